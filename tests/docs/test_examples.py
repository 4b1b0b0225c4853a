"""Every code block of the documentation runs.

Python blocks run as programs; `bash` blocks run as scripts in the same folder, so a page may build on what it did
before. A `make` target is asked for without being run; what a `pip install` line names must be something we publish.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = {"python", "bash"}
#: Blocks that show what comes out or what a file holds, not something to type.
SHOWN = {"text", "json", "toml", "mermaid", "sql"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(found[1], found[2]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def run(command: list[str], folder: Path) -> None:
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "BYHEART_URL": f"sqlite:///{folder}/",
        "PYTHONWARNINGS": "error",
        "NO_COLOR": "1",
    }
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def is_checked(line: str) -> bool:
    """Check a line that is not run as it stands; False for one that is."""
    words = line.split()
    if words[0] == "make":
        subprocess.run(["make", "-n", words[1]], cwd=ROOT, check=True, capture_output=True)
    elif words[:2] == ["pip", "install"]:
        for wanted in words[2:]:
            name, _, extras = wanted.strip("'\"").rstrip("]").partition("[")
            assert name in {"byheart", "byheart-minilm"}
            assert not extras or set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    elif words[:2] == ["python", "-m"] and words[2] == "benchmarks":
        run([sys.executable, "-m", "benchmarks", words[3], "--help"], ROOT)
    else:
        return words[0] in {"git", "cd"}
    return True


def run_block(code: str, folder: Path) -> None:
    lines = [line for line in code.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
    script = [line for line in lines if not is_checked(line)]
    run(["bash", "-euo", "pipefail", "-c", "\n".join(script)], folder)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_runs(page: Path, tmp_path: Path) -> None:
    for language, code in blocks(page):
        assert language in RUN | SHOWN, f"a block in {language!r}: mark it python or bash (run) or text (shown)"
        if language == "python":
            run([sys.executable, "-c", code], tmp_path)
        elif language == "bash":
            run_block(code, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_no_block_goes_without_a_language() -> None:
    bare = [
        page
        for page in PAGES
        if re.search(r"^```\n\S", page.read_text(encoding="utf-8"), re.MULTILINE)
        and len(re.findall(r"^```", page.read_text(encoding="utf-8"), re.MULTILINE)) != 2 * len(blocks(page))
    ]
    assert not bare
