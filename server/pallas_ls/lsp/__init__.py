"""The language server: one module a protocol feature. It asks `answers` and renders what comes back."""
