"""Speed and size: made-up rows through the public verbs, and a bare scan over the same rows to compare with.

Vectors are made up too, so that filling a store is measured without embedding; a query pays for the real model's
forward pass where the figure says so.
"""

import random
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from benchmarks.quality import versions
from benchmarks.synthetic import SyntheticEmbedder, Turn, episodes, query, turns
from byheart.memory import AgentMemory
from byheart.models.base import Embedder, Vector
from byheart.retrieval.document import indexed_text

QUERIES = 200
#: Recalls that are compared with an exact scan: each reads back every candidate, which takes long.
COMPARED = 50
SIZED_ROWS = 2000
SESSIONS_A_CALL = 50

Percentiles = dict[str, float]


def percentiles(milliseconds: Sequence[float]) -> Percentiles:
    """p50, p95 and p99 of some timings."""
    values = np.percentile(milliseconds, (50, 95, 99))
    return {name: round(float(value), 3) for name, value in zip(("p50", "p95", "p99"), values, strict=True)}


def log(text: str) -> None:
    """A line of progress, on stderr."""
    print(text, file=sys.stderr, flush=True)


def peak_rss_mb() -> float:
    """The most memory that this process has held so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent's memory with the made-up turns that it was filled with, which follow from `seed`."""

    memory: AgentMemory
    rows: int
    seed: int

    def sample(self, count: int) -> list[Turn]:
        """Some of its turns, evenly spread."""
        step = max(1, self.rows // count)
        return list(islice(turns(self.rows, seed=self.seed), 0, None, step))


async def fill(agent: Agent, embedder: SyntheticEmbedder) -> float:
    """Remember the agent's turns; returns the seconds it took, without those in the embedder."""
    made = episodes(turns(agent.rows, seed=agent.seed))
    seconds = 0.0
    while batch := list(islice(made, SESSIONS_A_CALL)):
        before = embedder.spent
        started = time.perf_counter()
        report = await agent.memory.remember_many(batch)
        seconds += time.perf_counter() - started - (embedder.spent - before)
        if report.errors:
            raise RuntimeError(f"refused: {report.errors[0]}")
    return seconds


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    """How many milliseconds an awaited call takes."""
    started = time.perf_counter()
    await call()
    return (time.perf_counter() - started) * 1000


def questions(agents: Sequence[Agent], count: int) -> list[tuple[Agent, str]]:
    """`count` questions about made-up turns, in an order that goes round the agents."""
    generator = np.random.default_rng(5)
    each = -(-count // len(agents))
    asked = [(agent, query(turn, generator)) for agent in agents for turn in agent.sample(each)[:each]]
    random.Random(5).shuffle(asked)  # noqa: S311 - an order, not a secret
    # Small stores have fewer turns than there are questions: ask again from the start.
    return [asked[place % len(asked)] for place in range(count)]


async def time_recalls(
    asked: Sequence[tuple[Agent, str]], embedder: SyntheticEmbedder, model: Embedder
) -> tuple[Percentiles, Percentiles, Percentiles]:
    """Recalls with the default limit: with the model's forward pass, without it, and the pass alone.

    The three take turns, so that a machine that is busy for a while is busy for all of them.
    """
    whole: list[float] = []
    without: list[float] = []
    forward: list[float] = []
    for agent, text in asked:
        embedder.real = model
        whole.append(await timed(lambda agent=agent, text=text: agent.memory.recall(text)))
        embedder.real = None
        without.append(await timed(lambda agent=agent, text=text: agent.memory.recall(text)))
        forward.append(await timed(lambda text=text: model.encode([text], query=True)))
    return percentiles(whole), percentiles(without), percentiles(forward)


async def time_writes(agents: Sequence[Agent], count: int) -> tuple[Percentiles, Percentiles]:
    """One durable fact at a time, each followed by a recall that must see it: milliseconds of both."""
    writes: list[float] = []
    recalls: list[float] = []
    for place in range(count):
        memory = agents[place % len(agents)].memory
        fact = f"Person{place} keeps the key number {place} in the blue drawer of the hall."
        writes.append(await timed(lambda memory=memory, fact=fact: memory.remember_fact(fact)))
        recalls.append(await timed(lambda memory=memory, fact=fact: memory.recall(fact)))
    return percentiles(writes), percentiles(recalls)


class Floor:
    """What no memory over these rows can undercut in numpy: a scan of all vectors, a pass over the query's terms."""

    def __init__(self, rows: Sequence[Turn], vectors: Vector) -> None:
        self._vectors = vectors
        words = np.concatenate([row.words for row in rows])
        owners = np.repeat(np.arange(len(rows), dtype=np.int32), [row.words.size for row in rows])
        order = np.argsort(words, kind="stable")
        self._owners = owners[order]
        self._starts = np.searchsorted(words[order], np.arange(int(words.max()) + 2))
        self._rows = len(rows)

    def best(self, vector: Vector, k: int) -> npt.NDArray[np.intp]:
        """The places of the `k` rows whose vectors are nearest: the exact scan."""
        scores = self._vectors @ vector
        best = np.argpartition(-scores, min(k, len(scores) - 1))[:k]
        return best[np.argsort(-scores[best])]

    def milliseconds(self, vector: Vector, words: npt.NDArray[np.int64]) -> float:
        """How long the scan and the term query take together."""
        started = time.perf_counter()
        self.best(vector, 10)
        totals = np.zeros(self._rows, dtype=np.float32)
        for number in words:
            posting = self._owners[self._starts[number] : self._starts[number + 1]]
            totals += np.bincount(posting, minlength=self._rows).astype(np.float32) / (1 + posting.size)
        np.argpartition(-totals, min(10, self._rows - 1))
        return (time.perf_counter() - started) * 1000


async def compare(agent: Agent, embedder: SyntheticEmbedder, count: int) -> tuple[float, float]:
    """The floor in milliseconds (median), and the share of the exact top 10 among byheart's vector candidates."""
    rows = list(turns(agent.rows, seed=agent.seed))
    texts = [indexed_text(row.text, speaker=row.speaker) for row in rows]
    vectors = np.empty((len(rows), embedder.dimensions), dtype=np.float32)
    for place, text in enumerate(texts):
        [encoding] = await embedder.encode([text])
        vectors[place] = encoding.pooled
    floor = Floor(rows, vectors)
    generator = np.random.default_rng(5)
    spent: list[float] = []
    found: list[float] = []
    for row in agent.sample(count)[:count]:
        text = query(row, generator)
        [encoding] = await embedder.encode([text], query=True)
        spent.append(floor.milliseconds(encoding.pooled, row.words[:6]))
        exact = {rows[int(place)].id for place in floor.best(encoding.pooled, 10)}
        result = await agent.memory.recall(text, limit=1000)
        near = {hit.chunk.source_id for hit in result.results if 0 < hit.trace.ranks.get("vector", 0) <= 10}
        found.append(len(exact & near) / len(exact))
    return round(float(np.median(spent)), 3), round(float(np.mean(found)), 4)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


async def bytes_per_memory(embedder: SyntheticEmbedder) -> float:
    """Bytes on disk for each memory of 60 words, in a store that was filled and closed."""
    with TemporaryDirectory(prefix="byheart-bench-") as folder:
        async with AgentMemory("size", f"sqlite:///{folder}/size.db", embedder=embedder) as memory:
            report = await memory.remember_many(list(episodes(turns(SIZED_ROWS, seed=3, shortest=60, longest=60))))
        return round(_size(Path(folder)) / report.chunks_added, 1)


async def measure(rows: int, agents: int, model: Embedder, *, queries: int = QUERIES) -> dict[str, object]:
    """The speed report, in the shape that is written as JSON.

    Args:
        rows: memories in all, spread evenly over the agents.
        agents: how many, each with a file of its own.
        model: whose forward pass the queries pay for.
        queries: how many recalls, writes and forward passes are timed.
    """
    started = time.perf_counter()
    embedder = SyntheticEmbedder()
    with TemporaryDirectory(prefix="byheart-bench-") as folder:
        async with AsyncExitStack() as stack:
            url = f"sqlite:///{folder}/"
            filled: list[Agent] = []
            for number in range(agents):
                memory = await stack.enter_async_context(AgentMemory(f"agent {number}", url, embedder=embedder))
                filled.append(Agent(memory, rows // agents, seed=100 + number))
            ingest = sum([await fill(agent, embedder) for agent in filled])
            log(f"filled {rows} rows in {ingest:.1f} s without embedding")
            asked = questions(filled, queries)
            first = [await timed(lambda agent=agent: agent.memory.recall("the first one")) for agent in filled]
            await model.encode(["load the model"], query=True)
            whole, without, forward = await time_recalls(asked, embedder, model)
            log("recalls done")
            writes, seen = await time_writes(filled, queries)
            rss = peak_rss_mb()
            fact = "Person7 keeps the key number 7 in the blue drawer of the hall."
            document = percentiles([await timed(lambda: model.encode([fact])) for _ in range(queries)])
            floor, exactness = await compare(filled[0], embedder, min(queries, COMPARED))
    return {
        "rows": rows,
        "agents": agents,
        "queries": queries,
        "recall_ms": whole,
        "recall_without_embedding_ms": without,
        "query_forward_pass_ms": forward,
        "first_recall_ms": percentiles(first),
        "recall_after_write_ms": seen,
        "remember_ms": writes,
        "remember_forward_pass_ms": document,
        "ingest_per_s": round(rows / ingest, 1),
        "exactness@10": exactness,
        "floor_ms": floor,
        "bytes_per_memory": await bytes_per_memory(embedder),
        "rss_mb": round(rss, 1),
        "model": model.model,
        "versions": versions(),
        "wall_s": round(time.perf_counter() - started, 1),
    }
