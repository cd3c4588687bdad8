"""Writes what is offered for each kernel anew: `python -m tests.fixes.record`. Read the changes first."""

from __future__ import annotations

from .offered import HERE, kernels, offers, shown, texts_of


def main() -> None:
    """Writes the expected fixes of all kernels."""
    folder = HERE / "expected"
    for kernel in kernels():
        texts = texts_of(kernel)
        (folder / f"{kernel.stem}.diff").write_text(shown(texts, offers(texts, kernel.name)))


if __name__ == "__main__":
    main()
