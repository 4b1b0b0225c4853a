"""Whole runs on tiny sets of our own: the shapes of the reports, and that nothing acknowledged is lost."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from benchmarks import durability, quality, speed
from benchmarks.datasets import Case, Question, Unit
from benchmarks.memo import MemoEmbedder
from byheart.models.base import Encoding
from byheart.testing.embedders import HashEmbedder

SAID = [
    ("Nils", "I planted forty red tulips along the fence this morning."),
    ("Ada", "My pottery kiln arrived from Sweden at last!"),
    ("Nils", "The dentist moved my appointment to Friday."),
    ("Ada", "We named the puppy Biscuit."),
]


def tiny_case(unit: str = "turn") -> Case:
    units = tuple(
        Unit(
            f"{session}:{place}", f"{text} ({session})" if session else text, speaker, None, None, f"session {session}"
        )
        for session in range(2)
        for place, (speaker, text) in enumerate(SAID)
    )
    gold = {"turn": ("0:1", "1:1"), "session": ("session 0", "session 1")}[unit]
    questions = (
        Question("1", "Where did the pottery kiln come from?", ("all", "1-4", "1"), frozenset(gold), None),
        Question("2", "What was planted along the fence?", ("all", "5"), frozenset(gold[:1]), None),
    )
    return Case("tiny", unit, units, questions)


def run_quality(case: Case, systems: Sequence[str] = quality.SYSTEMS) -> quality.Report:
    async def run() -> quality.Report:
        return await quality.measure("tiny", [case], HashEmbedder(), systems=systems)

    return anyio.run(run)


def test_quality_reports_every_system_group_and_metric() -> None:
    """N15: every system, group and metric. N15: the report has the shape that outsiders read."""
    report = run_quality(tiny_case())
    written = json.loads(json.dumps(report.as_json()))
    assert set(written) == {
        "dataset", "unit", "n", "cases", "groups", "systems", "intervals", "definitions", "models", "versions",
        "wall_s",
    }  # fmt: skip
    assert (written["dataset"], written["unit"], written["n"]) == ("tiny", "turn", 2)
    assert written["groups"] == {"all": 2, "1": 1, "1-4": 1, "5": 1}
    metrics = {f"{name}@{k}" for name in ("any", "all", "frac") for k in (1, 5, 10, 20)} | {"mrr", "ndcg@10"}
    metrics |= {f"{name}@{budget}" for name in ("coverage", "text") for budget in (500, 1000, 2000, 4000)}
    for system in ("byheart", "bm25", "cosine"):
        assert set(written["systems"][system]) == {"all", "1", "1-4", "5"}
        for group, row in written["systems"][system].items():
            assert set(row) == metrics
            for metric, mean in row.items():
                low, high = written["intervals"][system][group][metric]
                assert 0 <= low <= mean <= high <= 1
    assert next(table.title for table in report.tables()) == "tiny, all: n = 2, unit = turn"


def test_byheart_finds_the_answer_of_a_tiny_case_and_renders_it() -> None:
    """N15."""
    report = run_quality(tiny_case(), ["byheart"])
    row = report.figures["byheart"]["1"]
    assert row["all@5"].mean == 1
    assert row["coverage@2000"].mean == 1


def test_a_session_stands_where_its_best_turn_stands() -> None:
    report = run_quality(tiny_case("session"), ["byheart", "bm25"])
    assert report.unit == "session"
    assert report.figures["byheart"]["1"]["all@5"].mean == 1
    assert report.figures["bm25"]["1"]["all@5"].mean == 1


def test_each_text_is_embedded_once_and_a_query_apart_from_a_document() -> None:
    class Counting(HashEmbedder):
        seen: list[tuple[str, bool]] = []  # noqa: RUF012

        async def encode(self, texts: Sequence[str], *, query: bool = False) -> list[Encoding]:
            self.seen.extend((text, query) for text in texts)
            return await super().encode(texts, query=query)

    async def run() -> tuple[list[tuple[str, bool]], list[Encoding]]:
        inner = Counting()
        memo = MemoEmbedder(inner)
        await memo.encode(["a", "b", "a"])
        again = await memo.encode(["b", "c"])
        await memo.encode(["a"], query=True)
        await memo.embed("a")
        return inner.seen, again

    seen, again = anyio.run(run)
    assert seen == [("a", False), ("b", False), ("c", False), ("a", True)]
    assert len(again) == 2


def test_speed_reports_the_figures_that_outsiders_read() -> None:
    """N15: the figures of speed and size. N15."""

    async def run() -> dict[str, object]:
        return await speed.measure(400, 2, HashEmbedder(), queries=20)

    report = anyio.run(run)
    assert {
        "rows", "recall_ms", "recall_without_embedding_ms", "remember_ms", "ingest_per_s", "exactness@10", "floor_ms",
        "bytes_per_memory", "rss_mb",
    } <= set(report)  # fmt: skip
    written = json.loads(json.dumps(report))
    assert set(written["recall_ms"]) == {"p50", "p95", "p99"}
    assert report["exactness@10"] == pytest.approx(1, abs=0.02)


def test_kills_lose_nothing_that_was_acknowledged() -> None:
    report = durability.crash(4)
    assert report["lost"] == 0
    assert report["failed_checks"] == []


def test_processes_at_one_file_lose_nothing_and_see_no_error() -> None:
    report = durability.processes(1)
    assert report["lost"] == 0
    assert report["failed_checks"] == []
    assert report["errors"] == {}
    assert report["acknowledged"] == report["stored"]


def test_the_command_line_writes_the_report(tmp_path: Path) -> None:
    data = tmp_path / "val.jsonl"
    turns = [{"speaker": speaker, "content": text} for speaker, text in SAID]
    query = {"query": "What of the kiln?", "answer": "", "relevant_text_span": [["1", "1"]]}
    data.write_text(json.dumps({"meeting_transcripts": turns, "specific_query_list": [query]}), encoding="utf-8")
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "benchmarks", "quality", "qmsum", "--data", str(data), "--json", str(out)]
    done = subprocess.run(
        [*command, "--systems", "bm25"], check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert "coverage@2000" in done.stdout
    assert json.loads(out.read_text(encoding="utf-8"))["systems"]["bm25"]["all"]["any@1"] == 1
