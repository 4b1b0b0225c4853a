"""The generated reference is not stale."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_api_page_is_what_the_docstrings_say(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'docs')!r}); import build_reference as b; print(b.build(), end='')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    page = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    assert done.stdout == page, "run: python docs/build_reference.py"
