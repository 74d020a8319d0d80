from tests.shell import shell

__all__ = ["shell"]
