"""The command line: parse, one call of the memory, format. A module a group of commands; `main` is the entry point.

Exit codes: 0 it went well; 1 not found, or a check failed; 2 the input is wrong; 3 the store cannot do it.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from byheart.cli import care, demo, ingest, read, write
from byheart.cli.output import Output, prepare_streams
from byheart.cli.session import BAD_INPUT, INTERRUPTED, OK

app = typer.Typer(
    name="byheart",
    help="Memory for AI agents: one file, no server, no key.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its help needs a quarter of a second more to start
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:  # noqa: FBT001 - typer hands an option's value on by position
    if value:
        Output().line(care.version())
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Memory for AI agents: one file, no server, no key."""


for group in (write, read, ingest, care, demo):
    app.add_typer(group.app)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    prepare_streams()
    try:
        code: object = app(list(arguments) or ["--help"], prog_name="byheart", standalone_mode=False)
    except typer.TyperException as error:
        Output().remark(f"error: {error.format_message()} (`byheart --help` lists commands and options)")
        return BAD_INPUT
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    return code if isinstance(code, int) else OK


def main() -> None:
    """The `byheart` command."""
    sys.exit(run(sys.argv[1:]))
