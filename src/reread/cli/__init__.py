"""The command line: one file a verb, and the outer door through which every failure leaves.

Results go to standard output and all else to standard error. Exit codes: 0 done, 1 failed, 2 usage,
3 partly done, 4 budget reached, 130 stopped by the user.
"""

from __future__ import annotations

import os
import sys

import click
import typer

from reread.cli import ask, gists, list_, models, pages, read, remove, show
from reread.errors import BudgetReached, Cancelled, Error, UsageError

app = typer.Typer(
    name="reread",
    help="Reads long documents once, remembers their gist, and reads the right pages again.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("ask")(ask.ask)
app.command("read")(read.read)
app.command("list")(list_.list_)
app.command("show")(show.show)
app.command("pages")(pages.pages)
app.command("gists")(gists.gists)
app.command("remove")(remove.remove)
app.add_typer(models.app, name="models")


@app.callback(invoke_without_command=True)
def _version(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version."),
) -> None:
    if version:
        from reread import __version__

        print(__version__)
        raise typer.Exit()


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        code = done.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except (KeyboardInterrupt, click.Abort, Cancelled):
        _leave("reread: stopped; what was read is kept", 130)
    except Error as error:
        print(f"reread: {error.line}", file=sys.stderr)
        code = 2 if isinstance(error, UsageError) else 4 if isinstance(error, BudgetReached) else 1
    except BrokenPipeError:
        # The reader of our output has gone; nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("REREAD_DEBUG"):
            raise
        print(
            f"reread: unexpected {type(error).__name__}: {error}. "
            "Please report it; REREAD_DEBUG=1 shows where it happened",
            file=sys.stderr,
        )
        code = 1
    _leave(None, code if isinstance(code, int) else 0)


def _leave(line: str | None, code: int) -> None:
    """Ends the process at once: calls still in flight are not waited for."""
    if line:
        print(line, file=sys.stderr)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 1
    os._exit(code)
