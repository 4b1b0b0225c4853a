"""The demo runs without a terminal, and what it says to try next works."""

import json
import shlex
from pathlib import Path

import pytest

from byheart import cli
from byheart.sample import load_conversation, load_questions


def test_a_kept_demo_can_be_asked_what_it_suggests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a folder" / "demo.db"
    path.parent.mkdir()
    assert cli.run(["demo", "--keep", str(path)]) == 0
    printed = capsys.readouterr().out
    assert all(question.question in printed for question in load_questions())
    assert all(words in printed for words in ("█", "score", "relevance", "Try next:"))
    suggested = [line.split(maxsplit=1)[1] for line in printed.splitlines() if line.startswith("  byheart ")]
    assert len(suggested) >= 4
    for line in suggested:
        assert cli.run(shlex.split(line)) == 0, line
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
    assert "byheart demo --keep" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
