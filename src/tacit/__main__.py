"""`python -m tacit`: the `tacit` command, for whoever has the interpreter at hand and not the script."""

from tacit.cli.main import main

if __name__ == "__main__":
    main()
