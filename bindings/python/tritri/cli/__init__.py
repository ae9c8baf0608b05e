"""The command line: ``tritri info | multiply | verify | bench``. Imports click and rich, and so is never imported by `tritri` itself.

Exit code 0: done; 1: a product that does not verify; 2: anything wrong with the request, told in one line on stderr.
"""
from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Runs one command and exits."""
    try:
        import click
        import rich  # noqa: F401  the commands' tables and progress
    except ImportError as missing:
        sys.exit(_refuse(f"the command line needs the packages click and rich, and {missing.name} is not installed: pip install click rich"))
    from .commands import tritri
    words = sys.argv[1:] if arguments is None else arguments
    try:
        code = tritri.main(args=words or ["--help"], prog_name="tritri", standalone_mode=False) or 0
        sys.exit(code if words else 2)  # without a command: the help, and no success
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as wrong:
        sys.exit(_refuse(wrong.format_message()))
    except click.Abort:
        sys.exit(_refuse("interrupted"))
    except (ValueError, TypeError, MemoryError, RuntimeError, OSError) as wrong:
        sys.exit(_refuse(str(wrong) or type(wrong).__name__))


def _refuse(sentence: str) -> int:
    print("tritri: " + " ".join(sentence.split()), file=sys.stderr)
    return 2
