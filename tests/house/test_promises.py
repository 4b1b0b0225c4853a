"""docs/promises.md is true: every promise is there once, and every proof that it names exists and says so."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| ([PGCSAN]\d+) \| (.+?) \| (\w+) \| ?(.*?) ?\|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs/promises.md").read_text(encoding="utf-8"))
WANTED = {"P": 16, "G": 24, "C": 16, "S": 6, "A": 8, "N": 15}


def proofs(cell: str) -> list[tuple[Path, str]]:
    return [(ROOT / path, name) for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", cell)]


def docstring_of(path: Path, name: str) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            return f"{name} {ast.get_docstring(node) or ''} {ast.get_docstring(tree) or ''}"
    raise AssertionError(f"{path} has no {name}")


def test_every_promise_stands_once() -> None:
    wanted = [f"{letter}{number}" for letter, last in WANTED.items() for number in range(1, last + 1)]
    assert [row[0] for row in ROWS] == wanted


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_states_and_proofs_agree(row: tuple[str, str, str, str]) -> None:
    promise, _, state, proof = row
    assert state in {"kept", "part", "planned"}
    named = proofs(proof)
    assert bool(named) == (state != "planned")
    for path, name in named:
        said = docstring_of(path, name)
        same = {"G15": "P8", "A5": "P8"}.get(promise, promise)
        assert re.search(rf"\b({promise}|{same})\b", said), f"{name} does not name {promise}"
