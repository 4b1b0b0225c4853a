"""N14, N10: the same file twice gives the same keys; a file that has grown gives new keys for what is new alone."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.importers import read
from byheart.importers.base import SLICE_PARTS
from byheart.types import NewEpisode


def keys(path: Path) -> dict[str, list[str]]:
    """Episode key -> the keys of its parts, over all slices."""
    found: dict[str, list[str]] = {}
    for record in read(path):
        if isinstance(record, NewEpisode):
            assert record.key is not None
            found.setdefault(record.key, []).extend(part.key or "" for part in record.parts)
    return found


def chat(path: Path, messages: Sequence[Mapping[str, object]], *, lines: bool) -> Path:
    text = "\n".join(map(json.dumps, messages)) if lines else json.dumps(list(messages))
    path.write_text(text, encoding="utf-8")
    return path


def message(role: str, content: str, timestamp: str | None) -> dict[str, object]:
    made: dict[str, object] = {"role": role, "content": content}
    return made if timestamp is None else {**made, "timestamp": timestamp}


MESSAGES = st.lists(
    st.builds(
        message,
        st.sampled_from(["user", "assistant"]),
        st.sampled_from(["yes", "no", "ok", "why"]),
        st.sampled_from([None, "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"]),
    ),
    min_size=1,
    max_size=12,
)


@given(messages=MESSAGES, more=MESSAGES, name=st.sampled_from(["chat.json", "chat.jsonl"]))
def test_a_grown_chat_keeps_its_keys_and_repeats_are_counted(
    tmp_path_factory: pytest.TempPathFactory,
    messages: list[dict[str, object]],
    more: list[dict[str, object]],
    name: str,
) -> None:
    path, lines = tmp_path_factory.getbasetemp() / name, name.endswith("l")
    before = keys(chat(path, messages, lines=lines))
    assert keys(path) == before
    after = keys(chat(path, messages + more, lines=lines))
    assert list(after) == list(before)
    [old], [new] = before.values(), after.values()
    assert new[: len(old)] == old
    assert len(new) == len(set(new)) == len(messages) + len(more)


def test_message_ids_are_the_parts_keys_and_ids_make_the_folder_irrelevant(tmp_path: Path) -> None:
    talk = {
        "id": "talk-1",
        "messages": [{"role": "user", "content": "a", "id": "m1"}, {"role": "user", "content": "a", "id": "m2"}],
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps([talk]), encoding="utf-8")
    found = keys(path)
    assert list(found.values()) == [["m1", "m2"]]
    other = tmp_path / "folder" / "y.json"
    other.parent.mkdir()
    shutil.copy(path, other)
    assert keys(other) == found


def test_one_id_for_two_messages_loses_neither(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": text, "id": 1} for text in ("a", "b", "a", "b")]
    [parts] = keys(chat(tmp_path / "x.json", messages, lines=False)).values()
    assert len(parts) == len(set(parts)) == 2


def test_chats_without_ids_are_told_apart_by_name_and_opening(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    one = keys(chat(tmp_path / "c.json", [{"role": "user", "content": "one"}], lines=False))
    two = keys(chat(tmp_path / "a" / "c.json", [{"role": "user", "content": "two"}], lines=False))
    assert set(one).isdisjoint(two)


def test_a_shared_system_prompt_does_not_make_conversations_one(tmp_path: Path) -> None:
    system = {"role": "system", "content": "Be brief."}
    lines = [{"messages": [system, {"role": "user", "content": text}]} for text in ("one", "two", "one")]
    before = keys(chat(tmp_path / "c.jsonl", lines[:2], lines=True))
    after = keys(chat(tmp_path / "c.jsonl", lines, lines=True))
    assert len(after) == 3
    assert before.items() <= after.items()


def test_an_edited_document_keeps_its_episode_and_its_untouched_sections(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\none\n# B\ntwo\n# C\nthree\n", encoding="utf-8")
    [(key, before)] = keys(path).items()
    path.write_text("# A\none\n# B\ntwo, edited\n# C\nthree\n# D\nfour\n", encoding="utf-8")
    [(again, after)] = keys(path).items()
    assert again == key
    assert [part in before for part in after] == [True, False, True, False]


def test_a_long_conversation_comes_in_slices_of_one_key(tmp_path: Path) -> None:
    count = 2 * SLICE_PARTS + 7
    path = chat(tmp_path / "c.jsonl", [{"role": "user", "content": f"n {n % 10}"} for n in range(count)], lines=True)
    slices = [record for record in read(path) if isinstance(record, NewEpisode)]
    assert [len(one.parts) for one in slices] == [SLICE_PARTS, SLICE_PARTS, 7]
    assert len({one.key for one in slices}) == len({one.session for one in slices}) == 1
    [parts] = keys(path).values()
    assert len(set(parts)) == count
