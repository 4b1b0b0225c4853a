"""C2, N13: each command, its exit code, its plain form and its JSON. They run in this process, on a real store."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from byheart import cli
from byheart.blocks import memory_block_schema
from byheart.cli.output import bar


@dataclass
class Byheart:
    """Runs command lines and keeps what they print on standard error."""

    capsys: pytest.CaptureFixture[str]
    errors: str = ""

    def __call__(self, *arguments: str, code: int = 0) -> str:
        self.capsys.readouterr()
        found = cli.run(arguments)
        out, self.errors = self.capsys.readouterr()
        assert found == code, out + self.errors
        return out

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code))

    def error(self, *arguments: str, code: int) -> str:
        """What a command that fails says: one line on standard error, nothing on standard output."""
        assert self(*arguments, code=code) == ""
        assert self.errors.startswith("error: ")
        assert self.errors.count("\n") == 1
        return self.errors


@pytest.fixture
def byheart(capsys: pytest.CaptureFixture[str]) -> Byheart:
    return Byheart(capsys)


def test_remember_and_recall(byheart: Byheart) -> None:
    stored = byheart.json(
        "remember", "The spare key is under the blue pot.", "--tag", "house", "--tag", "keys", "--importance", "0.9",
        "--speaker", "Mara", "--session", "s-1", "--timestamp", "2025-05-01T10:00:00+02:00", "--type", "event",
    )  # fmt: skip
    assert (stored["tags"], stored["type"], stored["session"]) == (["house", "keys"], "event", "s-1")
    assert stored["created_at"] == "2025-05-01T08:00:00Z"
    byheart("remember", "The pump in the garden needs oil.", "--timestamp", "2025-05-01T08:00:00Z")
    found = byheart.json("recall", "where is the spare key", "--limit", "1")
    [hit] = found["results"]
    assert hit["chunk"]["text"] == "The spare key is under the blue pot."
    assert set(hit["terms"]) == {"relevance", "importance", "recency"}
    lines = byheart("recall", "where is the spare key").splitlines()
    rank, score, when, who, text, episode = lines[0].split("\t")
    assert (rank, when, who, text) == ("1", "2025-05-01 08:00", "Mara", "The spare key is under the blue pot.")
    assert episode == stored["id"]
    assert float(score) == pytest.approx(hit["score"], abs=5e-3)


def test_long_lines_are_not_cut_in_a_pipe(byheart: Byheart) -> None:
    text = "The inventory lists " + ", ".join(f"item {number}" for number in range(60)) + "."
    byheart("remember", text, "--speaker", "Mara")
    assert text in byheart("recall", "inventory")
    assert text[:150] in byheart("recent")


def test_explain_shows_the_sum_and_the_trace(byheart: Byheart) -> None:
    """P8, N13: the terms with their weights, the signals, and what the call did."""
    byheart("remember", "Harbourlight goes live in April.")
    printed = byheart("recall", "When does Harbourlight go live?", "--explain")
    for words in ("x", "relevance", "importance", "recency", "asked:", "searched:", "candidates:", "milliseconds:"):
        assert words in printed
    [hit] = byheart.json("recall", "When does Harbourlight go live?")["results"]
    for name, value in hit["trace"]["signals"].items():
        adds = abs(hit["trace"]["contributions"].get(name, 0)) >= 0.0005
        assert (f"   {name} {value:.3f}" in printed) == adds
    assert max(len(line) for line in printed.splitlines() if " relevance + " in line) <= 80
    assert hit["score"] == round(hit["score"], 6)


def test_recall_filters_reach_the_memory(byheart: Byheart) -> None:
    byheart("remember", "tea in january", "--timestamp", "2025-01-05T00:00:00Z", "--tag", "a", "--session", "one")
    byheart("remember", "tea in march", "--timestamp", "2025-03-05T00:00:00Z", "--type", "event")

    def texts(*options: str) -> set[str]:
        return {hit["chunk"]["text"] for hit in byheart.json("recall", "tea", *options)["results"]}

    assert texts() == {"tea in january", "tea in march"}
    assert texts("--after", "2025-02-01T00:00:00Z") == {"tea in march"}
    assert texts("--before", "2025-02-01T00:00:00Z") == {"tea in january"}
    assert texts("--tag", "a") == texts("--session", "one") == {"tea in january"}
    assert texts("--type", "event") == {"tea in march"}
    assert texts("--min-score", "1") == set()
    assert byheart("recall", "tea", "--min-score", "1") == ""
    assert byheart.errors == "nothing found\n"


def test_context(byheart: Byheart) -> None:
    byheart("remember", "The spare key is under the blue pot.")
    assert "blue pot" in byheart("context", "where is the key")
    assert "blue pot" in byheart.json("context", "where is the key", "--max-tokens", "100")["context"]


def test_recent_show_and_blocks(byheart: Byheart) -> None:
    """P2: `show --blocks` prints MemoryBlocks that validate against the schema that `schema` prints."""
    first = byheart.json("remember", "one")["id"]
    second = byheart.json("remember", "two", "--tag", "x")["id"]
    assert [episode["id"] for episode in byheart.json("recent")] == [second, first]
    assert [line.split("\t")[0] for line in byheart("recent").splitlines()] == [second, first]
    assert [episode["id"] for episode in byheart.json("recent", "--tag", "x")] == [second]
    assert byheart.json("show", second)["chunks"][0]["text"] == "two"
    assert "two" in byheart("show", second)
    blocks = byheart.json("show", second, "--blocks")
    schema = byheart.json("schema")
    assert schema == memory_block_schema()
    assert [block["content"] for block in blocks] == ["two"]
    for block in blocks:
        assert list(jsonschema.Draft7Validator(schema).iter_errors(block)) == []  # pyright: ignore[reportUnknownMemberType]


def test_what_is_not_there_is_exit_code_1(byheart: Byheart) -> None:
    byheart("remember", "one")
    assert "'ep_none'" in byheart.error("show", "ep_none", code=1)
    assert "'ep_none'" in byheart.error("forget", "ep_none", code=1)
    assert "'ep_none'" in byheart.error("tag", "add", "ep_none", "x", code=1)
    assert byheart.json("forget", "ep_none", code=1) == {"forgotten": {"ep_none": False}}


def test_tags_forget_and_stats(byheart: Byheart, tmp_path: Path) -> None:
    episode = byheart.json("remember", "The boiler is serviced in May.")["id"]
    assert set(byheart.json("tag", "add", episode, "b", "a")["tags"]) == {"a", "b"}
    assert byheart("tag", "remove", episode, "a") == f"{episode}: b\n"
    stats = byheart.json("stats")
    assert (stats["total_episodes"], stats["total_chunks"]) == (1, 1)
    assert "episodes\t1" in byheart("stats").splitlines()
    assert f"kept in\t{tmp_path / 'store.db'}" in byheart("stats").splitlines()
    assert stats["path"] == str(tmp_path / "store.db")
    assert byheart.json("stats", "--url", "memory:")["path"] is None
    assert "tags\tb" in byheart("stats").splitlines()
    assert "boiler" in byheart.json("topics", "--top", "5")
    assert "boiler" in byheart("topics").splitlines()
    assert byheart("forget", episode) == f"forgot {episode}\n"
    assert byheart.json("stats")["total_episodes"] == 0


def test_purge_prune_and_clear(byheart: Byheart) -> None:
    for day in range(1, 6):
        byheart("remember", f"note {day}", "--timestamp", f"2025-05-0{day}T00:00:00Z")
    assert byheart.json("prune", "--older-than", "2025-05-02T00:00:00Z") == {"deleted": 1}
    assert byheart("prune", "--keep", "3") == "deleted 1 episode\n"
    assert byheart("purge").startswith("nothing is left: ")
    assert byheart.json("purge")["files"]
    assert "--yes" in byheart.error("clear", code=2)
    assert byheart.json("stats")["total_episodes"] == 3
    assert byheart.json("clear", "--yes")["files"]
    assert byheart.json("stats")["total_episodes"] == 0


def test_doctor(byheart: Byheart, url: str) -> None:
    byheart("remember", "one")
    report = byheart.json("doctor")
    assert report["ok"] is True
    assert (report["agent"], report["url"], report["embedder"]) == ("tester", url, "hash")
    assert report["checks"]
    assert f"url\t{url}" in byheart("doctor").splitlines()


def test_scopes_keep_to_themselves(byheart: Byheart) -> None:
    """N11: a user's memory is not another's, and a session needs its user."""
    byheart("remember", "mine", "--user", "ann")
    byheart("remember", "here alone", "--user", "ann", "--session-scope", "s1")
    assert byheart.json("stats", "--user", "ann")["total_episodes"] == 1
    assert byheart.json("stats", "--user", "ann", "--session-scope", "s1")["total_episodes"] == 2
    assert byheart.json("stats", "--user", "bob")["total_episodes"] == 0
    assert byheart.json("stats")["total_episodes"] == 0
    assert "user" in byheart.error("stats", "--session-scope", "s1", code=2)
    assert byheart.json("stats", "--agent", "other", "--url", "memory:")["total_episodes"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["remember", ""], "text"),
        (["remember", "x", "--type", "novel"], "conversation, document, fact, event, custom"),
        (["remember", "x", "--importance", "2"], "importance"),
        (["remember", "x", "--importance", "much"], "--importance"),
        (["remember", "x", "--timestamp", "2025-05-01"], "2025-05-01T00:00:00Z"),
        (["recall", "x", "--after", "yesterday"], "'yesterday' is no time"),
        (["recall", "x", "--after", "0001-01-01T00:00:00+14:00"], "is no time in UTC"),
        (["recall", "x", "--limit", "0"], "limit"),
        (["recall", "x", "--recency-weight", "7"], "recency_weight"),
        (["recall"], "query"),
        (["prune"], "--keep N or --older-than TIME"),
        (["prune", "--keep", "1", "--older-than", "2025-05-01T00:00:00Z"], "either"),
        (["nonsense"], "nonsense"),
        (["stats", "--nonsense"], "--nonsense"),
        (["stats", "--url", "mysql://x"], "sqlite:///"),
        (["recall", "x", "--session-scope", "s"], "user: --session-scope needs --user"),
        (["ingest", "does/not/exist"], "does not exist"),
        (["ingest", ".", "--format", "novel"], "chatgpt"),
        (["ingest", ".", "--batch", "0"], "batch"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(byheart: Byheart, arguments: list[str], words: str) -> None:
    byheart("remember", "one")
    assert words in byheart.error(*arguments, code=2)


def test_a_store_that_is_not_ours_is_exit_code_3(byheart: Byheart, tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"this is no database, but a letter to a friend" * 100)
    assert "store.db" in byheart.error("stats", code=3)
    assert (tmp_path / "store.db").read_bytes().startswith(b"this is no database")


def test_another_agents_file_is_exit_code_3(byheart: Byheart) -> None:
    """C16: a file belongs to one agent."""
    byheart("remember", "one")
    assert "tester" in byheart.error("stats", "--agent", "somebody else", code=3)


def test_control_characters_cannot_drive_the_terminal(byheart: Byheart) -> None:
    evil = "red \x1b[31malert\x07 \x9b31m \u202ebell"
    byheart("remember", evil)
    printed = byheart("recall", "alert") + byheart("recent") + byheart("recent", "--json")
    assert not set("\x1b\x07\x9b\u202e") & set(printed)
    assert json.loads(byheart("recent", "--json"))[0]["chunks"][0]["text"] == evil


def test_markup_in_a_memory_is_printed_as_it_is(byheart: Byheart) -> None:
    byheart("remember", "[bold]not markup[/bold] :smile:")
    assert "[bold]not markup[/bold] :smile:" in byheart("recall", "markup")


def test_a_terminal_gets_a_table_with_bars_and_marked_words(byheart: Byheart, monkeypatch: pytest.MonkeyPatch) -> None:
    byheart("remember", "The spare key is under the blue pot.", "--speaker", "Mara")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    printed = byheart("recall", "where is the key")
    assert "█" in printed
    assert "\x1b[1;33mkey\x1b[0m" in printed
    plain = byheart("recall", "where is the key", "--no-color")
    assert "\x1b[1mkey\x1b[0m" in plain
    assert "33m" not in plain


LONG = "The inventory lists " + ", ".join(f"item {number}" for number in range(60)) + "."


def test_an_episode_is_a_line_and_its_id_below_in_a_narrow_terminal(
    byheart: Byheart, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = byheart.json("remember", LONG, "--type", "conversation")["id"]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    heading, line, below = [re.sub(r"\x1b\[[0-9;]*m", "", each) for each in byheart("recent").splitlines()]
    assert heading.split() == ["when", "type", "text,", "id"]
    assert "The inventory lists item 0, item 1" in line
    assert line.rstrip().endswith("…")
    assert below.strip() == episode
    assert max(map(len, (heading, line, below))) <= 80
    hit = [re.sub(r"\x1b\[[0-9;]*m", "", each).strip() for each in byheart("recall", "inventory").splitlines()]
    assert hit[-1] == episode
    assert " ".join(hit[1:-1]) == LONG


def test_scores_that_print_alike_have_the_same_bar() -> None:
    assert bar(0.5496) == bar(0.5504)
    assert [bar(share).count("█") for share in (-1, 0, 0.26, 1, 2)] == [0, 0, 3, 10, 10]


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "x"], ["context", "x"], ["recent"], ["show", "x"], ["stats"], ["topics"], ["forget", "x"],
        ["tag", "add", "x", "y"], ["tag", "remove", "x", "y"], ["doctor"], ["purge"], ["prune", "--keep", "1"],
        ["clear", "--yes"],
    ],
)  # fmt: skip
def test_a_mistyped_agent_makes_no_memory(byheart: Byheart, tmp_path: Path, arguments: list[str]) -> None:
    url = f"sqlite:///{tmp_path.as_posix()}/folder/"
    said = byheart.error(*arguments, "--url", url, "--agent", "typo", code=1)
    assert said.startswith(f"error: no memory of agent 'typo' at {tmp_path / 'folder' / 'typo-'}")
    assert list(tmp_path.iterdir()) == []


def test_a_mistyped_agent_is_told_whose_files_are_there(byheart: Byheart, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    url = f"sqlite:///{folder.as_posix()}/"
    byheart("remember", "one", "--url", url, "--agent", "ann")
    [there] = [each.name for each in folder.iterdir() if each.suffix == ".db"]
    before = set(folder.iterdir())
    assert byheart.error("recent", "--url", url, "--agent", "typo", code=1).endswith(f"there: {there}\n")
    assert set(folder.iterdir()) == before
    for number in range(7):
        (folder / f"zoe-{number}.db").touch()
    said = byheart.error("recent", "--url", url, "--agent", "typo", code=1)
    assert said.endswith("zoe-3.db, ...\n")
    assert said.count(".db") == 6
    said = byheart.error("stats", "--agent", "typo", code=1)
    assert said == f"error: no memory of agent 'typo' at {tmp_path / 'store.db'}\n"


def test_help_and_version(byheart: Byheart) -> None:
    assert "Commands:" in byheart()
    assert "Commands:" in byheart("--help")
    assert byheart("--version").strip()
    assert "Missing command" in byheart.error("tag", code=2)
