"""The command that takes in files: one pass counts what there is to do, the next does it, batch by batch."""

import functools
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from byheart.cli.output import Output
from byheart.cli.session import BAD_INPUT, OK, STORE_TROUBLE, Session, command
from byheart.errors import InputError
from byheart.importers import FORMAT_NAMES, FORMATS, BadRecord, Skipped, read_or_report, walk
from byheart.types import NewEpisode

if TYPE_CHECKING:
    from byheart.sync import Memory

_SECONDS_BETWEEN_LINES = 5.0
_FORMATS_HELP = "  ".join(f"{known.name}: {known.about}." for known in FORMATS)


app = typer.Typer()


@dataclass
class Survey:
    """What the first pass found.

    Attributes:
        files: to be read, in order.
        skipped: how many were passed over, by reason.
        parts: how many turns, sections and paragraphs there are.
        formats: how many of them came in each format.
        episodes: the keys of the episodes they make.
        bad: what could not be taken.
    """

    files: list[Path] = field(default_factory=list[Path])
    skipped: Counter[str] = field(default_factory=Counter[str])
    parts: int = 0
    formats: Counter[str] = field(default_factory=Counter[str])
    episodes: set[str | None] = field(default_factory=set[str | None])
    bad: list[BadRecord] = field(default_factory=list[BadRecord])


@dataclass
class Outcome:
    """What became of the episodes: ids of those that took something new and of those that had it all, and refusals."""

    added: set[str] = field(default_factory=set[str])
    unchanged: set[str] = field(default_factory=set[str])
    memories: int = 0
    refused: list[BadRecord] = field(default_factory=list[BadRecord])
    store_failed: bool = False


@dataclass(frozen=True)
class Pending:
    """An episode on its way, and the file that it came from."""

    file: str
    episode: NewEpisode


@command(app, creates=True)
def ingest(
    session: Session,
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", metavar="PATH...")],
    format_name: Annotated[
        str | None,
        typer.Option("--format", help=f"Take every file as this, instead of telling it by content.  {_FORMATS_HELP}"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, and store nothing.")] = False,  # noqa: FBT002
    batch: Annotated[int, typer.Option(help="How many turns or paragraphs are stored at a time.")] = 256,
) -> int:
    """Take in conversations, logs and documents.

    The same file again adds nothing, and one that has grown only what is new.
    It may be interrupted at any time: what is stored stays, and the same command goes on where it stopped.
    """
    if format_name is not None and format_name not in FORMAT_NAMES:
        raise InputError("format", f"{format_name!r} is unknown", f"use one of {', '.join(FORMAT_NAMES)}")
    if batch < 1:
        raise InputError("batch", f"is {batch}", "use a whole number of at least 1")
    survey = take_survey(paths, format_name)
    outcome = Outcome()
    started = time.monotonic()
    if not dry_run and survey.parts:
        with _progress(session.out, survey.parts) as advance:
            for pending in _batches(survey.files, format_name, batch):
                _store(session.memory, pending, outcome)
                advance(sum(len(one.episode.parts) for one in pending))
                if outcome.store_failed:
                    break
    seconds = time.monotonic() - started
    _report(session.out, survey, outcome, seconds=seconds, dry_run=dry_run)
    if outcome.store_failed:
        return STORE_TROUBLE
    return BAD_INPUT if survey.bad or outcome.refused else OK


def take_survey(paths: Sequence[Path], format_name: str | None) -> Survey:
    """Read everything once, to know how much there is and what cannot be taken.

    Raises:
        InputError: a path does not exist.
    """
    survey = Survey()
    for path in paths:
        for found in walk(path):
            if isinstance(found, Skipped):
                survey.skipped[found.why] += 1
                continue
            if _look_into(survey, found, format_name):
                survey.files.append(found)
            else:
                survey.skipped["empty"] += 1
    return survey


def _look_into(survey: Survey, path: Path, format_name: str | None) -> bool:
    """Count what a file holds; whether it holds anything."""
    records = 0
    for records, record in enumerate(read_or_report(path, format_name), 1):  # noqa: B007 - counted to its end
        if isinstance(record, BadRecord):
            survey.bad.append(record)
            continue
        survey.parts += len(record.parts)
        survey.formats[str(record.metadata["format"])] += len(record.parts)
        survey.episodes.add(record.key)
    return records > 0


def _batches(files: Sequence[Path], format_name: str | None, size: int) -> Iterator[list[Pending]]:
    """The episodes in batches of about `size` parts, never two with one key in the same batch."""
    batch: list[Pending] = []
    parts = 0
    keys: set[str | None] = set()
    for path in files:
        for record in read_or_report(path, format_name):
            if isinstance(record, BadRecord):
                continue
            if batch and (record.key in keys or parts >= size):
                yield batch
                batch, parts = [], 0
                keys.clear()
            batch.append(Pending(str(path), record))
            parts += len(record.parts)
            keys.add(record.key)
    if batch:
        yield batch


def _store(memory: "Memory", pending: Sequence[Pending], outcome: Outcome) -> None:
    report = memory.remember_many([one.episode for one in pending])
    outcome.added |= set(report.added.values())
    outcome.unchanged |= set(report.unchanged.values())
    outcome.memories += report.chunks_added
    for error in report.errors:
        outcome.refused.append(BadRecord(pending[error.index].file, 0, f"{error.error}: {error.message}"))
        outcome.store_failed |= not error.error.startswith(("Input", "Scope"))


def _report(out: Output, survey: Survey, outcome: Outcome, *, seconds: float, dry_run: bool) -> None:
    refused = [*survey.bad, *outcome.refused]
    unchanged = outcome.unchanged - outcome.added
    rate = outcome.memories / seconds if seconds > 0 else 0.0
    if out.as_json:
        out.json(
            {
                "dry_run": dry_run,
                "files": len(survey.files),
                "skipped": survey.skipped,
                "episodes_found": len(survey.episodes),
                "parts_found": survey.parts,
                "by_format": survey.formats,
                "episodes_added": len(outcome.added),
                "episodes_unchanged": len(unchanged),
                "memories_added": outcome.memories,
                "refused": len(refused),
                "bad_records": refused,
                "seconds": round(seconds, 3),
                "memories_per_second": round(rate, 1),
            }
        )
        return
    for bad in refused:
        out.remark(
            f"refused: {bad.file}:{bad.line}: {bad.problem}" if bad.line else f"refused: {bad.file}: {bad.problem}"
        )
    formats = ", ".join(f"{name} {count}" for name, count in sorted(survey.formats.items()))
    skipped = ", ".join(f"{why} {count}" for why, count in sorted(survey.skipped.items()))
    rows = [
        ("files", f"{len(survey.files)}" + (f" (skipped: {skipped})" if skipped else "")),
        ("episodes found", f"{len(survey.episodes)}"),
        ("parts found", f"{survey.parts}" + (f" ({formats})" if formats else "")),
    ]
    if not dry_run:
        rows += [
            ("episodes added", f"{len(outcome.added)}"),
            ("unchanged", f"{len(unchanged)}"),
            ("memories added", f"{outcome.memories}"),
            ("seconds", f"{seconds:.1f}" + (f" ({rate:.0f} memories/s)" if outcome.memories else "")),
        ]
    else:
        rows.append(("stored", "nothing (dry run)"))
    rows.append(("refused", f"{len(refused)}"))
    out.rows(("", ""), rows)


# Progress: a bar on a terminal, a line every few seconds elsewhere.


class _Rate(ProgressColumn):
    """How many parts a second."""

    def render(self, task: Task) -> Text:
        """The rate as text; empty until there is one."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.0f}/s")


class _Lines:
    """A plain line on standard error every few seconds."""

    def __init__(self, out: Output, total: int) -> None:
        self._out = out
        self._total = total
        self._done = 0
        self._started = self._said = time.monotonic()

    def advance(self, parts: int) -> None:
        """Count `parts` as done, and say so if it has been quiet for long enough."""
        self._done += parts
        now = time.monotonic()
        if now - self._said < _SECONDS_BETWEEN_LINES:
            return
        self._said = now
        rate = self._done / (now - self._started)
        left = (self._total - self._done) / rate
        self._out.remark(f"ingest: {self._done} of {self._total} parts, {rate:.0f}/s, {left:.0f} s left")


@contextmanager
def _progress(out: Output, total: int) -> Generator[Callable[[int], None]]:
    """Show how far it is while the block runs; the function that it gives counts parts as done."""
    if not out.remarks.is_terminal:
        yield _Lines(out, total).advance
        return
    columns = (
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
        BarColumn(),
        _Rate(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=out.remarks) as bar:
        task = bar.add_task("ingest", total=total)
        yield functools.partial(bar.advance, task)
