"""C16, N11: which file a URL names for an agent."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.errors import InputError
from byheart.stores.urls import agent_file_name, sqlite_path
from byheart.testing.stores import TRICKY_IDS


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///notes.db", "notes.db"),
        ("sqlite:///some/where.db", "some/where.db"),
        ("sqlite:////var/lib/x.db", "/var/lib/x.db"),
        ("sqlite:///a%20b%3Fc%25.db", "a b?c%.db"),
        ("sqlite:///日本/記憶.db", "日本/記憶.db"),
    ],
)
def test_a_file(url: str, path: str) -> None:
    """C16: relative and absolute, percent-decoded, the same for every agent."""
    assert sqlite_path(url, "a") == sqlite_path(url, "b") == Path(path)


def test_a_folder_holds_a_file_an_agent() -> None:
    """C16: the name can be read, and is its own for every id."""
    path = sqlite_path("sqlite:////data/", "My Agent_7")
    assert path.parent == Path("/data")
    assert path.name.startswith("my-agent-7-")
    assert path == sqlite_path("sqlite:////data/", "My Agent_7")


@pytest.mark.parametrize(
    "url",
    ["", "sqlite:", "sqlite://", "sqlite:///", "sqlite://host/x.db", "postgresql:///x", "x.db", "sqlite:///x?mode=ro",
     "sqlite:///%ff", "sqlite:///a%00b", "sqlite:///:memory:"],
)  # fmt: skip
def test_other_forms_are_refused(url: str) -> None:
    """C16: what is not understood is an error that says what to write."""
    with pytest.raises(InputError, match="url"):
        sqlite_path(url, "a")


def test_lookalikes_get_files_of_their_own() -> None:
    """N11: on a file system that folds case, too."""
    names = {agent_file_name(id_).lower() for id_ in TRICKY_IDS}
    assert len(names) == len(TRICKY_IDS)


@given(st.text(min_size=1, max_size=400), st.text(min_size=1, max_size=400))
def test_file_names_are_safe_and_tell_ids_apart(one: str, other: str) -> None:
    """N11: plain ASCII, short, no dots to climb with; equal for equal ids alone."""
    name = agent_file_name(one)
    assert len(name) <= 64
    assert set(name.removesuffix(".db")) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert (name == agent_file_name(other)) == (one == other)
