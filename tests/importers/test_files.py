"""N14: encodings, folders, damaged files and any bytes at all: records or bad records, never a crash."""

import codecs
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.errors import ImportFormatError, InputError
from byheart.importers import FORMAT_NAMES, BadRecord, Skipped, detect, read, read_or_report, walk
from byheart.importers.source import MAX_LINE_CHARACTERS
from byheart.types import NewEpisode


def texts(path: Path, format_name: str | None = None) -> list[str]:
    return [part.text for record in read(path, format_name) if isinstance(record, NewEpisode) for part in record.parts]


def bad(path: Path, format_name: str | None = None) -> list[BadRecord]:
    return [record for record in read(path, format_name) if isinstance(record, BadRecord)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_obeyed(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Grüße\n\n日本語\n".encode(encoding))
    assert texts(path) == ["Grüße", "日本語"]
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"role": "user", "content": "Grüße"}\n'.encode(encoding))
    assert texts(path) == ["Grüße"]


def test_utf16_big_endian(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(codecs.BOM_UTF16_BE + "Grüße".encode("utf-16-be"))
    assert texts(path) == ["Grüße"]


@pytest.mark.parametrize(
    ("line", "words"),
    [(b"caf\xe9", "not in the file's encoding"), (b"a\x00b", "NUL")],
)
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.log"])
def test_a_bad_line_is_named_and_the_rest_goes_in(tmp_path: Path, name: str, line: bytes, words: str) -> None:
    path = tmp_path / name
    stamp = b"2024-01-01 10:00 " if name == "a.log" else b""
    path.write_bytes(b"\n\n".join(stamp + text for text in (b"first entry", line, b"last entry")))
    assert "\n".join(texts(path)).split() == ["first", "entry", "last", "entry"]
    [record] = bad(path)
    assert (record.file, record.line) == (str(path), 3)
    assert words in record.problem


def test_bad_bytes_in_a_json_string_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"role": "user", "content": "caf\xe9"}\n{"role": "user", "content": "tea"}\n')
    assert texts(path) == ["tea"]
    assert [(record.line, "encoding" in record.problem) for record in bad(path)] == [(1, True)]


def test_a_truncated_utf16_file_gives_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("one\n\ntwo\n\nthree".encode("utf-16")[:-1])
    assert texts(path) == ["one", "two"]
    assert [record.line for record in bad(path)] == [5]


def test_a_line_past_the_limit_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = json.dumps({"role": "user", "content": "tea"})
    path.write_text(f"{good}\n{'x' * (2 * MAX_LINE_CHARACTERS + 5)}\n{good}\n", encoding="utf-8")
    assert texts(path) == ["tea", "tea"]
    assert [(record.line, "16,777,216" in record.problem) for record in bad(path)] == [(2, True)]


def test_binary_and_unknown_files_are_refused(tmp_path: Path) -> None:
    for name, content in (("a.pdf", b"%PDF-1.7 plain looking"), ("a.txt", bytes(range(256)) * 8)):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ImportFormatError, match="binary"):
            detect(path)
        [record] = list(read_or_report(path))
        assert isinstance(record, BadRecord)
        assert (record.line, "binary" in record.problem) == (0, True)
    path = tmp_path / "package.json"
    path.write_text('{"name": "x", "scripts": {"a": "b"}}', encoding="utf-8")
    with pytest.raises(ImportFormatError, match="--format json"):
        list(read(path))
    with pytest.raises(InputError, match="format"):
        list(read(path, "nonsense"))


def test_a_file_that_is_gone_is_a_bad_record(tmp_path: Path) -> None:
    [record] = list(read_or_report(tmp_path / "gone.txt"))
    assert isinstance(record, BadRecord)
    assert "No such file" in record.problem


def test_folders_are_walked_in_order_without_hidden_binary_and_linked_files(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret", encoding="utf-8")
    root = tmp_path / "root"
    (root / "b").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config.txt").write_text("x", encoding="utf-8")
    for name in ("b/2.txt", "b/1.txt", "a.txt", "c.txt", ".hidden"):
        (root / name).write_text("text", encoding="utf-8")
    (root / "x.bin").write_bytes(bytes(range(256)))
    (root / "link").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "file").symlink_to(outside / "secret.txt")
    os.mkfifo(root / "pipe")
    found = list(walk(root))
    paths = [path.relative_to(root).as_posix() for path in found if isinstance(path, Path)]
    assert paths == ["a.txt", "b/1.txt", "b/2.txt", "c.txt"]
    skipped = {Path(one.file).name: one.why for one in found if isinstance(one, Skipped)}
    assert skipped == {
        ".git": "hidden", ".hidden": "hidden", "x.bin": "binary", "link": "link", "loop": "link", "file": "link",
        "pipe": "special",
    }  # fmt: skip
    assert list(walk(root / "file")) == [root / "file"]
    with pytest.raises(InputError, match="does not exist"):
        list(walk(root / "nothing"))


def test_a_file_name_of_any_bytes_is_printable(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt"))
    path.write_text("text", encoding="utf-8")
    [record] = list(read(path))
    assert isinstance(record, NewEpisode)
    assert record.metadata["file"] == "bad\N{REPLACEMENT CHARACTER}.txt"


# -- any bytes ----------------------------------------------------------------------------------------------------

NAMES = (
    "role", "content", "messages", "text", "speaker", "id", "type", "message", "mapping", "sessionId", "uuid", "parent",
    "parts", "current_node", "conversation", "session_1", "trajectory", "action", "observation", "timestamp", "author",
    "create_time", "tool_calls", "name", "turns", "title", "dia_id",
)  # fmt: skip
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)
FILES = st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
SHAPED = st.lists(JSON_VALUES, max_size=5).flatmap(
    lambda values: st.sampled_from(
        [json.dumps(values).encode(), "\n".join(map(json.dumps, values)).encode(), json.dumps(values)[:-9].encode()]
    )
)


@given(content=FILES | SHAPED, suffix=st.sampled_from([".txt", ".md", ".json", ".jsonl", ".log", ""]))
def test_any_bytes_give_records_or_bad_records(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(content)
    for format_name in (None, *FORMAT_NAMES):
        for record in read_or_report(path, format_name):
            if isinstance(record, BadRecord):
                assert record.problem
                assert 0 <= record.line <= content.count(b"\n") + content.count(b"\r") + 1
                continue
            assert record.parts
            assert record.key
            for part in record.parts:
                assert part.text.strip()
                part.text.encode("utf-8")
                assert "\0" not in part.text
                assert part.timestamp is None or part.timestamp.utcoffset() is not None
