"""The demo runs without a terminal, and what it says to try next works."""

import json
import shlex
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from byheart import cli
from byheart.cli.demo import is_behind_older, program
from byheart.sample import load_conversation, load_questions
from byheart.sync import open_memory
from byheart.testing.embedders import HashEmbedder


def test_a_kept_demo_can_be_asked_what_it_suggests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a folder" / "demo.db"
    path.parent.mkdir()
    assert cli.run(["demo", "--keep", str(path)]) == 0
    printed = capsys.readouterr().out
    assert all(question.question in printed for question in load_questions())
    assert all(words in printed for words in (" relevance + ", "Try next:"))
    suggested = printed.partition("Try next:\n")[2].splitlines()
    called = program(shutil.which("byheart"), sys.argv[0])
    assert len(suggested) >= 4
    for line in suggested:
        assert line.startswith(f"  {called} ")
        assert cli.run(shlex.split(line.removeprefix(f"  {called} "))) == 0, line
    assert "Harbourlight" in capsys.readouterr().out


def test_demo_json_and_a_second_run_on_the_kept_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "demo.db"
    turns = sum(len(session.messages) for session in load_conversation().sessions)
    for added in (turns, 0):
        assert cli.run(["demo", "--keep", str(path), "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["memories_added"] == added
        assert len(report["answers"]) == len(load_questions())
        assert all(len(answer["hits"]) == 3 for answer in report["answers"])


def test_the_demos_file_goes_unless_it_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cli.run(["demo", "--no-pause"]) == 0
    printed = capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
    called = program(shutil.which("byheart"), sys.argv[0])
    monkeypatch.chdir(tmp_path)
    for line in printed.partition("Try next:\n")[2].splitlines():
        assert cli.run(shlex.split(line.removeprefix(f"  {called} "))) == 0, line


def test_what_to_try_next_is_called_as_a_shell_can_call_it() -> None:
    assert program("/usr/bin/byheart", "x") == "byheart"
    assert program(None, "/a folder/bin/byheart") == "'/a folder/bin/byheart'"
    assert program(None, "/lib/byheart/cli/__main__.py") == f"{shlex.quote(sys.executable)} -m byheart.cli"


def test_an_answer_behind_something_older_is_called_so() -> None:
    with open_memory("demo", "memory:", embedder=HashEmbedder()) as memory:
        for year, text in ((2024, "The database is MongoDB."), (2025, "The database of it all is now PostgreSQL.")):
            memory.remember(text, timestamp=datetime(year, 1, 1, tzinfo=UTC))
        result = memory.recall("The database is MongoDB.")
    assert [hit.chunk.timestamp.year for hit in result.results] == [2024, 2025]
    assert not is_behind_older(result, 1)
    assert is_behind_older(result, 2)
