"""`python -m pallas_ls`."""

from .cli import main

if __name__ == "__main__":
    main()
