"""Register layouts through a kernel's values: which operation cannot get one."""
