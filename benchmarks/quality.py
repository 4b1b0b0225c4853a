"""Retrieval quality of byheart and the baselines on one labelled data set, in one process, over the same texts."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.baselines import Bm25Baseline, CosineBaseline
from benchmarks.datasets import Case
from benchmarks.memo import MemoEmbedder
from benchmarks.metrics import BUDGETS, CUTS, DEFINITIONS, Interval, bootstrap, coverage, ranking_scores, text_share
from benchmarks.systems import System, open_byheart
from byheart.models.base import Embedder
from byheart.text.analyzer import count_terms

SYSTEMS = ("byheart", "bm25", "cosine")
#: How many units are asked for, so that the 20 best items can be read off them: a message may be several memories, and
#: a session has many turns.
DEPTH: Mapping[str, int] = {"turn": 40, "message": 100, "session": 200}

#: Metric -> value, of one question.
Scores = dict[str, float]
#: System -> group -> the scores of each of its questions.
Tally = dict[str, dict[str, list[Scores]]]


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured on one data set.

    Attributes:
        n: questions asked; `groups` says how many of them count in each group.
        figures: system -> group -> metric -> mean over questions with its interval.
        wall_s: seconds for all systems together, embedding included.
    """

    dataset: str
    unit: str
    n: int
    cases: int
    groups: Mapping[str, int]
    figures: Mapping[str, Mapping[str, Mapping[str, Interval]]]
    models: Mapping[str, str | int]
    versions: Mapping[str, str]
    wall_s: float

    def as_json(self) -> dict[str, object]:
        """The report as it is written: means under `systems`, their bounds in the same shape under `intervals`."""
        means = {
            system: {group: {metric: one.mean for metric, one in row.items()} for group, row in groups.items()}
            for system, groups in self.figures.items()
        }
        bounds = {
            system: {
                group: {metric: [one.low, one.high] for metric, one in row.items()} for group, row in groups.items()
            }
            for system, groups in self.figures.items()
        }
        return {
            "dataset": self.dataset,
            "unit": self.unit,
            "n": self.n,
            "cases": self.cases,
            "groups": dict(self.groups),
            "systems": means,
            "intervals": bounds,
            "definitions": dict(DEFINITIONS),
            "models": dict(self.models),
            "versions": dict(self.versions),
            "wall_s": self.wall_s,
        }

    def tables(self) -> Iterator[Table]:
        """One table a group: metrics by systems, each figure with its 95 % interval."""
        for group, size in self.groups.items():
            table = Table(title=f"{self.dataset}, {group}: n = {size}, unit = {self.unit}")
            table.add_column("metric")
            rows = [groups[group] for groups in self.figures.values()]
            for system in self.figures:
                table.add_column(system, justify="right")
            for metric in rows[0]:
                table.add_row(metric, *(_cell(row[metric]) for row in rows))
            yield table


def _cell(one: Interval) -> str:
    return f"{one.mean:.3f} [dim]{one.low:.3f}-{one.high:.3f}[/dim]"


def versions() -> dict[str, str]:
    """The versions of everything that moves a figure; a package that is not installed is left out."""
    found = {"python": sys.version.split()[0]}
    for name in ("byheart", "byheart-minilm", "apsw", "numpy", "onnxruntime"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def summary(tally: Tally) -> dict[str, dict[str, dict[str, Interval]]]:
    """Means and intervals of a tally, `all` first, then the groups by name."""
    return {
        system: {
            group: {metric: bootstrap(row[metric] for row in rows) for metric in rows[0]}
            for group, rows in sorted(groups.items(), key=lambda named: (named[0] != "all", named[0]))
        }
        for system, groups in tally.items()
    }


async def _ask(case: Case, system: System) -> list[tuple[Sequence[str], Scores]]:
    """Each question's groups and scores."""
    await system.fill()
    answers: list[tuple[Sequence[str], Scores]] = []
    for question in case.questions:
        ranking = case.ranking(await system.rank(question, DEPTH[case.unit]))[: max(CUTS)]
        scores = ranking_scores(ranking, question.gold)
        contexts = {budget: await system.context(question, budget) for budget in BUDGETS}
        for name, measured in (("coverage", coverage), ("text", text_share)):
            for budget, context in contexts.items():
                scores[f"{name}@{budget}"] = measured(context, question.gold, case.passages, budget)
        answers.append((question.groups, scores))
    return answers


async def measure_case(case: Case, embedder: Embedder, systems: Sequence[str], tally: Tally) -> None:
    """Fill each system with the case, ask it all questions, and add the scores to the tally."""
    async with AsyncExitStack() as stack:
        for name in systems:
            system: System
            if name == "byheart":
                system = await stack.enter_async_context(open_byheart(case, embedder))
            elif name == "bm25":
                system = Bm25Baseline(case.units, count_terms)
            else:
                system = CosineBaseline(case.units, embedder)
            for groups, scores in await _ask(case, system):
                for group in groups:
                    tally.setdefault(name, {}).setdefault(group, []).append(scores)


async def measure(
    dataset: str, cases: Sequence[Case], embedder: Embedder, *, systems: Sequence[str] = SYSTEMS
) -> Report:
    """Measure systems on one data set; progress goes to stderr.

    Args:
        dataset: its name.
        cases: what a loader of `benchmarks.datasets` returned.
        embedder: one for all systems; each text is embedded once.
        systems: which of byheart, bm25, cosine.
    """
    started = time.perf_counter()
    tally: Tally = {}
    memo = MemoEmbedder(embedder)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for case in progress.track(cases, description=dataset):
            await measure_case(case, memo, systems, tally)
            memo.forget()
    figures = summary(tally)
    first = next(iter(figures.values()))
    sizes = {group: len(tally[systems[0]][group]) for group in first}
    return Report(
        dataset=dataset,
        unit=cases[0].unit,
        n=sizes["all"],
        cases=len(cases),
        groups=sizes,
        figures=figures,
        models={"embedder": memo.model, "dimensions": memo.dimensions},
        versions=versions(),
        wall_s=round(time.perf_counter() - started, 1),
    )
