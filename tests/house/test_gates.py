"""What keeps the house in shape and is not covered by a linter."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TRACKED = [
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    if (ROOT / name).is_file()
]  # fmt: skip


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 600
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            length = (node.end_lineno or 0) - body[0].lineno + 1
            assert length <= 65, f"{node.name} has {length} lines"


def test_sql_stands_in_the_stores_alone() -> None:
    statement = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET|CREATE\s+TABLE)\b")
    outside = [path for path in SOURCES if "stores" not in path.parts]
    assert not [path for path in outside if statement.search(path.read_text(encoding="utf-8"))]


def test_no_file_names_a_package_registry() -> None:
    hosts = re.compile(r"(pypi|pythonhosted|debian)[.]org|npmjs[.](org|com)|yarnpkg[.]com")
    texts = [path for path in TRACKED if path != Path(__file__) and path.suffix not in {".npy", ".onnx"}]
    assert not [path for path in texts if hosts.search(path.read_text(encoding="utf-8", errors="replace"))]


@pytest.mark.parametrize("lock", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_locks_have_hashes(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    pinned = re.findall(r"^[A-Za-z0-9_.\[\]-]+==", text, re.MULTILINE)
    assert pinned
    assert len(re.findall(r"^[A-Za-z0-9_.\[\]-]+==[^\n]*\\\n +--hash=sha256:", text, re.MULTILINE)) == len(pinned)
