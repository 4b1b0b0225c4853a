"""What is measured: the protocol of a system, and byheart itself behind it, through its public verbs alone."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from benchmarks.datasets import Case, Question, Unit
from byheart.memory import AgentMemory
from byheart.models.base import Embedder
from byheart.types import NewEpisode, Part


class System(Protocol):
    """A memory that takes one case in and answers its questions."""

    async def fill(self) -> None:
        """Take the case's units in."""
        ...

    async def rank(self, question: Question, depth: int) -> list[str]:
        """Ids of units, best first, at most `depth` of them, each once."""
        ...

    async def context(self, question: Question, budget: int) -> str:
        """What a model would be given for the question, at most `budget` tokens."""
        ...


def episodes(case: Case) -> list[NewEpisode]:
    """One episode a session, a part a unit: how an application would hand a conversation over."""
    return [
        NewEpisode(
            parts=tuple(_part(unit) for unit in units), session=session, key=session, timestamp=_start(units)
        )
        for session, units in case.sessions()
    ]  # fmt: skip


def _part(unit: Unit) -> Part:
    return Part(unit.text, speaker=unit.speaker, role=unit.role, timestamp=unit.timestamp, source_id=unit.id)


def _start(units: Iterable[Unit]) -> datetime | None:
    return min((unit.timestamp for unit in units if unit.timestamp), default=None)


class Byheart:
    """byheart with its defaults over a fresh file; a long message that is several memories stands at its best one."""

    def __init__(self, case: Case, memory: AgentMemory) -> None:
        self._case = case
        self._memory = memory

    async def fill(self) -> None:
        """Remember the case.

        Raises:
            RuntimeError: an episode was refused, so that the figures would be of another case.
        """
        report = await self._memory.remember_many(episodes(self._case))
        if report.errors:
            raise RuntimeError(f"{self._case.id}: {len(report.errors)} episodes refused, first: {report.errors[0]}")

    async def rank(self, question: Question, depth: int) -> list[str]:
        """The units of the hits, best first."""
        result = await self._memory.recall(question.text, limit=depth, now=question.asked_at)
        return list(dict.fromkeys(hit.chunk.source_id for hit in result.results if hit.chunk.source_id is not None))

    async def context(self, question: Question, budget: int) -> str:
        """The context that `build_context` renders, without recent memories, which would not answer the question."""
        return await self._memory.build_context(
            question.text, max_tokens=budget, include_recent=0, now=question.asked_at
        )


@asynccontextmanager
async def open_byheart(case: Case, embedder: Embedder) -> AsyncGenerator[Byheart, None]:
    """A byheart over a SQLite file in a folder that is gone afterwards."""
    with TemporaryDirectory(prefix="byheart-bench-") as folder:
        url = f"sqlite:///{(Path(folder) / 'case.db').as_posix()}"
        async with AgentMemory("benchmark", url, embedder=embedder) as memory:
            yield Byheart(case, memory)
