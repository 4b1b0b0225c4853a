"""N14: `byheart ingest` takes files and folders in, once, says what it refused, and can be run again at any time."""

import json
from pathlib import Path
from typing import Any

import pytest

from byheart import cli


def messages(*texts: str) -> str:
    return "".join(json.dumps({"role": "user", "content": text}) + "\n" for text in texts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    (root / "inner").mkdir(parents=True)
    (root / "chat.jsonl").write_text(messages("The key is under the pot.", "The pump needs oil."), encoding="utf-8")
    (root / "inner" / "guide.md").write_text(
        "# House\nAlarm code on the fridge.\n# Garden\nOil in March.\n", encoding="utf-8"
    )
    (root / ".hidden").write_text("nothing", encoding="utf-8")
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    return root


def ingest(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert cli.run(["ingest", *map(str, arguments), "--json"]) == code, capsys.readouterr()
    return json.loads(capsys.readouterr().out)


def stats(capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    capsys.readouterr()
    assert cli.run(["stats", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    return counts["total_episodes"], counts["total_chunks"]


def test_a_folder_goes_in_and_the_same_again_adds_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = ingest(capsys, folder)
    assert {name: report[name] for name in ("files", "episodes_added", "memories_added", "refused")} == {
        "files": 2, "episodes_added": 2, "memories_added": 4, "refused": 0,
    }  # fmt: skip
    assert report["skipped"] == {"hidden": 1, "binary": 1}
    assert report["by_format"] == {"chat": 2, "markdown": 2}
    assert stats(capsys) == (2, 4)
    again = ingest(capsys, folder)
    assert (again["episodes_added"], again["memories_added"], again["episodes_unchanged"]) == (0, 0, 2)
    assert stats(capsys) == (2, 4)


def test_a_grown_chat_adds_its_new_messages_to_its_episode(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "chat.jsonl"
    ingest(capsys, path)
    path.write_text(path.read_text(encoding="utf-8") + messages("The roof leaks."), encoding="utf-8")
    report = ingest(capsys, path)
    assert (report["episodes_added"], report["memories_added"]) == (1, 1)
    assert stats(capsys) == (1, 3)


def test_bad_records_are_listed_and_the_rest_goes_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "chat.jsonl"
    path.write_text(messages("Good.") + '{"role": "user"\n' + messages("Also good."), encoding="utf-8")
    (folder / "package.json").write_text('{"name": "x", "version": 1}', encoding="utf-8")
    report = ingest(capsys, folder, code=2)
    assert [(Path(bad["file"]).name, bad["line"]) for bad in report["bad_records"]] == [
        ("chat.jsonl", 2),
        ("package.json", 0),
    ]
    assert report["refused"] == 2
    assert stats(capsys) == (2, 4)
    assert cli.run(["ingest", str(folder)]) == 2
    printed = capsys.readouterr()
    assert f"refused: {path}:2: is no JSON" in printed.err
    assert f"refused: {folder / 'package.json'}: is JSON in which" in printed.err
    assert "refused\t2" in printed.out.splitlines()
    assert "unchanged\t2" in printed.out.splitlines()


def test_dry_run_stores_nothing(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = ingest(capsys, folder, "--dry-run")
    assert (report["dry_run"], report["episodes_found"], report["parts_found"]) == (True, 2, 4)
    assert report["memories_added"] == 0
    assert cli.run(["ingest", str(folder), "--dry-run"]) == 0
    assert "stored\tnothing (dry run)" in capsys.readouterr().out.splitlines()
    assert not (tmp_path / "store.db").exists()


def test_an_empty_file_is_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.md").touch()
    report = ingest(capsys, tmp_path / "empty.md")
    assert (report["files"], report["skipped"]) == (0, {"empty": 1})


def test_format_can_be_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = ingest(capsys, folder / "chat.jsonl", "--format", "text")
    assert report["by_format"] == {"text": 1}


def test_batches_of_any_size_store_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "long.jsonl"
    path.write_text(messages(*(f"note {number}" for number in range(1203))), encoding="utf-8")
    ingest(capsys, path, "--batch", "1")
    assert stats(capsys) == (1, 1203)
    again = ingest(capsys, path, "--batch", "5000")
    assert (again["memories_added"], again["episodes_unchanged"]) == (0, 1)


def test_one_conversation_in_two_files_is_one_episode(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("a.json", "first"), ("b.json", "second")):
        talk = {"id": "talk", "messages": [{"role": "user", "content": text, "id": text}]}
        (folder / name).write_text(json.dumps([talk]), encoding="utf-8")
    ingest(capsys, folder / "a.json", folder / "b.json")
    assert stats(capsys) == (1, 2)


def test_an_interrupted_ingest_goes_on_where_it_stopped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """N10: what a part of the file already brought is not stored again."""
    path = folder / "chat.jsonl"
    whole = messages(*(f"note {number}" for number in range(40)))
    path.write_text("".join(whole.splitlines(keepends=True)[:17]), encoding="utf-8")
    ingest(capsys, path)
    path.write_text(whole, encoding="utf-8")
    assert ingest(capsys, path)["memories_added"] == 23


def test_progress_is_shown_on_a_terminal_alone(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.run(["ingest", str(folder)]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    assert cli.run(["ingest", str(folder)]) == 0
    assert "4 of 4" in capsys.readouterr().err
