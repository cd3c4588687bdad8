"""The command line as it is installed."""

from pallas_ls.cli import main

if __name__ == "__main__":
    main()
