"""`docs/reference/cli.md` is what `--help` says."""

import subprocess
import sys
from pathlib import Path

from typer.main import get_command

from byheart.cli import app

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_what_the_commands_say() -> None:
    code = f"import sys; sys.path.insert(0, {str(DOCS)!r}); import build_cli as b; print(b.build(), end='')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert done.stdout.decode() == page, "run: python docs/build_cli.py"


def test_the_page_has_every_command() -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    names = list(getattr(get_command(app), "commands"))  # noqa: B009 - typer's own type does not name it
    assert len(names) >= 16
    assert all(f"## byheart {name}\n" in page for name in names)
