"""The command line: one file a verb, and the outer door through which every failure leaves.

Results go to standard output and all else to standard error. Exit codes: 0 done, 1 failed, 2 usage,
3 partly done, 4 budget reached, 130 stopped by the user.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import NoReturn

import typer

from reread.cli import ask, estimate, gists, list_, models, pages, read, remove, show, thoughts
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
app.command("estimate")(estimate.estimate)
app.command("list")(list_.list_)
app.command("show")(show.show)
app.command("pages")(pages.pages)
app.command("gists")(gists.gists)
app.command("remove")(remove.remove)
app.add_typer(models.app, name="models")
app.add_typer(thoughts.app, name="thoughts")


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
    # A character that the terminal's encoding lacks is shown as another one, not as a failure.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except typer.TyperException as error:
        _leave(_usage_line(error), 2)
    except (KeyboardInterrupt, typer.Abort, Cancelled):
        _leave("reread: stopped; what was read is kept", 130)
    except Error as error:
        code = 2 if isinstance(error, UsageError) else 4 if isinstance(error, BudgetReached) else 1
        _leave(f"reread: {error.line}", code)
    except BrokenPipeError:
        # The reader of our output has gone; nothing more can be said to it.
        _leave(None, 0)
    except OSError as error:
        _leave(f"reread: {_os_line(error)}", 1)
    except Exception as error:
        if os.environ.get("REREAD_DEBUG"):
            raise
        said = " ".join(str(error).split())
        _leave(
            f"reread: unexpected {type(error).__name__}: {said}. "
            "Please report it; REREAD_DEBUG=1 shows where it happened",
            1,
        )
    _leave(None, code)


def _run(arguments: list[str]) -> int:
    """The exit code of the verb that the arguments name."""
    command = typer.main.get_command(app)
    try:
        # Not `app()`: it answers Ctrl-C and a closed pipe in its own way.
        with command.make_context("reread", arguments) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    return 0


def _usage_line(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "reread"
    text = error.format_message()
    if "\n" in text:  # a command without its verb: the message is the whole help
        return text
    return f"reread: {text.rstrip('.')}. See `{path} --help`"


def _os_line(error: OSError) -> str:
    place = f" at {error.filename}" if error.filename else ""
    hint = ". Free some space; finished work is kept" if error.errno == errno.ENOSPC else ""
    return f"{error.strerror or error}{place}{hint}"


def _leave(line: str | None, code: int) -> NoReturn:
    """Ends the process at once: calls still in flight are not waited for."""
    try:
        if line:
            print(line, file=sys.stderr)
        sys.stderr.flush()
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except OSError:
        code = code or 1
    os._exit(code)
