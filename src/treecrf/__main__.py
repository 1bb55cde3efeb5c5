"""`python -m treecrf` is the command `treecrf`."""

from treecrf.cli.app import main

if __name__ == "__main__":
    main()
