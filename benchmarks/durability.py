"""Nothing acknowledged is lost: kills at random moments, and several processes at one file at once."""

import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.speed import log, percentiles
from byheart.errors import ByheartError
from byheart.sync import Memory, open_memory
from byheart.testing.embedders import HashEmbedder

AGENT = "durability"
_TEXT = "Writer {writer} put parcel {number} on shelf {shelf} in the north hall and told {name} about it."
_NAMES = ("Ada", "Bo", "Chen", "Dina", "Emil")


def _open(path: str) -> Memory:
    return open_memory(AGENT, f"sqlite:///{path}", embedder=HashEmbedder())


def _text(writer: int, number: int) -> str:
    return _TEXT.format(writer=writer, number=number, shelf=number % 97, name=_NAMES[number % len(_NAMES)])


def _write_until_killed(path: str, writer: int, pipe: Connection) -> None:
    with _open(path) as memory:
        number = 0
        while True:
            pipe.send(memory.remember_fact(_text(writer, number)).id)
            number += 1


def _acknowledged(pipe: Connection) -> list[str]:
    """Everything that arrived whole; what a killed writer left half-sent was never acknowledged."""
    ids: list[str] = []
    try:
        while pipe.poll():
            ids.append(pipe.recv())
    except (EOFError, OSError):
        pass
    return ids


def _missing(memory: Memory, ids: Sequence[str]) -> list[str]:
    return [episode_id for episode_id in ids if memory.get_episode(episode_id) is None]


def _failed_checks(memory: Memory) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in memory.check() if not check.ok]


def crash(kills: int) -> dict[str, object]:
    """Kill a writing process at random moments, and look after each kill whether all that it acknowledged is there.

    The whole store, terms and vectors too, is checked after every twentieth kill and at the end.
    """
    # A fork server starts writers in milliseconds and, unlike a plain fork, holds no thread and no open file of ours.
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    moments = random.Random(17)  # noqa: S311 - moments, not secrets
    acknowledged: list[str] = []
    lost: list[str] = []
    broken: list[str] = []
    started = time.perf_counter()
    with TemporaryDirectory(prefix="byheart-crash-") as folder:
        path = (Path(folder) / "crash.db").as_posix()
        for kill in range(1, kills + 1):
            mine, theirs = context.Pipe(duplex=False)
            writer = context.Process(target=_write_until_killed, args=(path, kill, theirs), daemon=True)
            writer.start()
            theirs.close()
            # Every fourth writer may die while it opens the store; the others have written something by then.
            if kill % 4:
                mine.poll(60)
            time.sleep(moments.uniform(0, 0.25))
            writer.kill()
            writer.join()
            new = _acknowledged(mine)
            mine.close()
            acknowledged += new
            with _open(path) as memory:
                lost += _missing(memory, new)
                if kill % 20 == 0 or kill == kills:
                    broken += _failed_checks(memory)
                    log(f"{kill} kills, {len(acknowledged)} acknowledged, {len(lost)} lost")
        with _open(path) as memory:
            lost += _missing(memory, acknowledged)
            stored = memory.get_stats().total_episodes
    return {
        "kills": kills,
        "acknowledged": len(acknowledged),
        "stored": stored,
        "lost": len(set(lost)),
        "failed_checks": sorted(set(broken)),
        "wall_s": round(time.perf_counter() - started, 1),
    }


@dataclass(frozen=True, slots=True)
class Work:
    """What one process did: ids it was given, milliseconds of each call, and errors by their class."""

    ids: list[str]
    milliseconds: list[float]
    errors: dict[str, int]


def _work(path: str, writer: int | None, seconds: float, pipe: Connection) -> None:
    ids: list[str] = []
    spent: list[float] = []
    errors: Counter[str] = Counter()
    with _open(path) as memory:
        end = time.monotonic() + seconds
        number = 0
        while time.monotonic() < end:
            started = time.perf_counter()
            try:
                if writer is None:
                    memory.recall(f"parcel on shelf {number % 97}")
                else:
                    ids.append(memory.remember_fact(_text(writer, number)).id)
            except ByheartError as error:
                errors[type(error).__name__] += 1
            spent.append((time.perf_counter() - started) * 1000)
            number += 1
    pipe.send(Work(ids, spent, dict(errors)))


def processes(seconds: float, writers: int = 2, readers: int = 2) -> dict[str, object]:
    """Let processes write to and recall from one file at once, then look for every acknowledged episode."""
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with TemporaryDirectory(prefix="byheart-processes-") as folder:
        path = (Path(folder) / "shared.db").as_posix()
        pipes: list[Connection] = []
        running: list[BaseProcess] = []
        for place in range(writers + readers):
            mine, theirs = context.Pipe(duplex=False)
            writer = place if place < writers else None
            process = context.Process(target=_work, args=(path, writer, seconds, theirs), daemon=True)
            process.start()
            theirs.close()
            pipes.append(mine)
            running.append(process)
        done: list[Work] = [pipe.recv() for pipe in pipes]
        for process in running:
            process.join()
        with _open(path) as memory:
            acknowledged = [episode_id for work in done for episode_id in work.ids]
            lost = _missing(memory, acknowledged)
            broken = _failed_checks(memory)
            stored = memory.get_stats().total_episodes
    written, read = done[:writers], done[writers:]
    errors = sum((Counter(work.errors) for work in done), Counter[str]())
    return {
        "seconds": seconds,
        "writers": writers,
        "readers": readers,
        "acknowledged": len(acknowledged),
        "stored": stored,
        "lost": len(lost),
        "failed_checks": broken,
        "errors": dict(errors),
        "writes_per_s": round(len(acknowledged) / seconds, 1),
        "recalls_per_s": round(sum(len(work.milliseconds) for work in read) / seconds, 1),
        "remember_ms": percentiles([one for work in written for one in work.milliseconds]),
        "recall_ms": percentiles([one for work in read for one in work.milliseconds]),
    }
