"""Write `docs/reference/cli.md` from the commands' own `--help`; a test keeps it from going stale."""

import contextlib
import io
import os
from pathlib import Path

from byheart import cli

PAGE = Path(__file__).parent / "reference" / "cli.md"
COMMANDS = (
    "remember", "recall", "context", "recent", "show", "forget", "tag", "tag add", "tag remove", "stats", "topics",
    "ingest", "demo", "doctor", "purge", "prune", "clear", "schema",
)  # fmt: skip
INTRODUCTION = """\
# The command line

This page is made from `byheart COMMAND --help` by `docs/build_cli.py`.

Every command takes `--json` and then prints one JSON value on standard output and nothing else there; remarks and
errors go to standard error. Without it, a terminal gets tables and a pipe gets tab-separated lines that are never cut.
Times are UTC; a time that you give needs its zone (`2025-05-01T00:00:00Z`). Which memory: `--agent` and `--url`, else
`BYHEART_AGENT` and `BYHEART_URL` (see [configuration](configuration.md)); whose: `--user`, and `--session-scope` for
what stays inside one session.

| exit code | what |
|---|---|
| 0 | it went well |
| 1 | not found (also: no memory where a command looks for one), or a check failed |
| 2 | the input is wrong: one line says which field, what is wrong and what to do |
| 3 | the store or the embedder cannot do it |
"""


def help_of(command: str) -> str:
    """What `byheart COMMAND --help` prints, 80 columns wide."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        cli.run([*command.split(), "--help"])
    return printed.getvalue().rstrip()


def build() -> str:
    """The page."""
    os.environ["COLUMNS"] = "80"
    sections = [INTRODUCTION, f"```text\n{help_of('')}\n```\n"]
    sections += [f"## byheart {command}\n\n```text\n{help_of(command)}\n```\n" for command in COMMANDS]
    return "\n".join(sections)


if __name__ == "__main__":
    PAGE.write_text(build(), encoding="utf-8")
