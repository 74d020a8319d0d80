"""The command `tacit`, also as `python -m tacit` for whoever has no such script at hand."""

import sys
from importlib.util import find_spec


def main() -> None:
    """Run it, or say what to install first."""
    if find_spec("click") is None:
        from tacit.base.install_hint import install_hint

        sys.exit(f"the command line needs more libraries; add them with: {install_hint('core', 'cli')}")
    from tacit.base.commands.main import main as run

    run()


if __name__ == "__main__":
    main()
