"""The public surface: names, signatures, what importing costs."""

import inspect
import json
import subprocess
import sys

import pytest

import byheart
from byheart.memory import AgentMemory
from byheart.sync import Memory

HEAVY = ("numpy", "onnxruntime", "tokenizers", "apsw", "pydantic", "rich", "typer", "anyio", "Stemmer")


def loaded_after(statement: str) -> set[str]:
    code = f"import sys, json\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("name", byheart.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(byheart, name).__doc__


def test_public_names_are_sorted_and_listed() -> None:
    assert byheart.__all__ == sorted(byheart.__all__)
    assert set(byheart.__all__) <= set(dir(byheart))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(byheart, "non" + "sense")


def test_import_loads_nothing_heavy() -> None:
    assert loaded_after("import byheart").isdisjoint(HEAVY)


def test_opening_a_memory_loads_no_model() -> None:
    heavy = loaded_after("from byheart import open_memory\nopen_memory('a', 'memory:').get_stats()")
    assert heavy.isdisjoint({"onnxruntime", "tokenizers", "pydantic", "rich", "typer"})


def test_reading_a_file_loads_no_model(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    heavy = loaded_after(f"from byheart import open_memory\nopen_memory('a', {url!r}).get_recent()")
    assert heavy.isdisjoint({"onnxruntime", "tokenizers"})
    assert "apsw" in heavy


def verbs(cls: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(member)
        for name, member in vars(cls).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


def test_both_memories_have_the_same_verbs() -> None:
    blocking, asynchronous = verbs(Memory), verbs(AgentMemory)
    only_blocking, only_asynchronous = {"run"}, set[str]()
    assert set(blocking) - set(asynchronous) == only_blocking
    assert set(asynchronous) - set(blocking) == only_asynchronous
    for name in set(blocking) & set(asynchronous) - {"scoped", "close"}:
        assert str(blocking[name]) == str(asynchronous[name]), name
        assert getattr(Memory, name).__doc__ == getattr(AgentMemory, name).__doc__
