"""Bad input gets a typed error that names the field and the fix, and the store stays as it was."""

import math
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from byheart.engine import MemoryConfig
from byheart.errors import (
    AgentMismatchError,
    EmbedderError,
    EmbedderMismatchError,
    InputError,
    MissingPartError,
    ScopeError,
    StoreError,
    StoreFullError,
)
from byheart.memory import AgentMemory, create_agent_memory, create_agent_memory_from_env
from byheart.models.base import Encoding, without_tokens
from byheart.models.custom import custom_embedder
from byheart.testing.embedders import HashEmbedder
from byheart.types import Chunking, NewEpisode, Part, Scope, Weights

pytestmark = pytest.mark.anyio


def nested(depth: int) -> object:
    value: object = "leaf"
    for _ in range(depth):
        value = [value]
    return value


def cyclic() -> dict[str, object]:
    value: dict[str, object] = {}
    value["x"] = value
    return value


Call = Callable[[Any], Awaitable[object]]  # Any, because the calls are wrong on purpose
ANY_SCOPE: Any = Scope
ANY_CHUNKING: Any = Chunking
ANY_EPISODE: Any = NewEpisode
HUGE = 10**5000  # of more digits than Python writes, and beyond every float
BEFORE_TIME = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
AFTER_TIME = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12)))
NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001  (the point of the test)
BAD: dict[str, tuple[str, Call]] = {
    "empty text": ("text", lambda m: m.remember("")),
    "white space": ("text", lambda m: m.remember(" \n\t")),
    "not text": ("text", lambda m: m.remember(5)),
    "too long": ("text", lambda m: m.remember("x" * 1_048_577)),
    "lone surrogate": ("text", lambda m: m.remember("a\ud800b")),
    "NUL": ("text", lambda m: m.remember("a\0b")),
    "unknown type": ("type", lambda m: m.remember("a", type="poem")),
    "empty tag": ("tags[1]", lambda m: m.remember("a", tags=["ok", ""])),
    "long tag": ("tags[0]", lambda m: m.remember("a", tags=["t" * 257])),
    "tags as text": ("tags", lambda m: m.remember("a", tags="abc")),
    "metadata no JSON": ("metadata.when", lambda m: m.remember("a", metadata={"when": datetime.now(UTC)})),
    "metadata NaN": ("metadata.x", lambda m: m.remember("a", metadata={"x": math.nan})),
    "metadata deep": ("metadata.x" + "[0]" * 31, lambda m: m.remember("a", metadata={"x": nested(40)})),
    "metadata number key": ("metadata", lambda m: m.remember("a", metadata={1: 2})),
    "naive time": ("timestamp", lambda m: m.remember("a", timestamp=NAIVE)),
    "negative ttl": ("ttl", lambda m: m.remember("a", ttl=-1)),
    "NaN ttl": ("ttl", lambda m: m.remember("a", ttl=math.nan)),
    "importance": ("importance", lambda m: m.remember("a", importance=1.5)),
    "empty key": ("key", lambda m: m.remember("a", key="")),
    "empty session": ("session", lambda m: m.remember("a", session="")),
    "chunk size": ("chunking.max_tokens", lambda m: m.remember("a", chunking=Chunking(max_tokens=0))),
    "overlap": ("chunking.overlap", lambda m: m.remember("a", chunking=Chunking(10, 10))),
    "split": ("chunking.split_on", lambda m: m.remember("a", chunking=ANY_CHUNKING(split_on="verse"))),
    "no messages": ("messages", lambda m: m.remember_conversation([])),
    "message shape": ("messages[0]", lambda m: m.remember_conversation([{"text": "a"}])),
    "message text": ("parts[1].text", lambda m: m.remember_conversation(
        [{"role": "user", "content": "a"}, {"role": "user", "content": ""}])),
    "no parts": ("parts", lambda m: m._write(NewEpisode(()))),
    "empty query": ("query", lambda m: m.recall("")),
    "negative limit": ("limit", lambda m: m.recall("a", limit=-1)),
    "zero limit": ("limit", lambda m: m.recall("a", limit=0)),
    "NaN limit": ("limit", lambda m: m.recall("a", limit=math.nan)),
    "NaN weight": ("recency_weight", lambda m: m.recall("a", recency_weight=math.nan)),
    "negative weight": ("recency_weight", lambda m: m.recall("a", recency_weight=-0.1)),
    "weights sum": ("weights", lambda m: m.recall("a", weights=Weights(0.5, 0.5, 0.5))),
    "weights NaN": ("weights.recency", lambda m: m.recall("a", weights=Weights(0.5, 0.5, math.nan))),
    "min_score": ("min_score", lambda m: m.recall("a", min_score=2)),
    "naive after": ("after", lambda m: m.recall("a", after=NAIVE)),
    "naive before": ("before", lambda m: m.recall("a", before=NAIVE)),
    "after past before": ("after", lambda m: m.recall(
        "a", after=datetime(2026, 2, 1, tzinfo=UTC), before=datetime(2026, 1, 1, tzinfo=UTC))),
    "unknown types": ("types[0]", lambda m: m.recall("a", types=["poem"])),
    "unknown axis": ("coordinate", lambda m: m.recall("a", coordinate={"colour": "red"})),
    "unknown value": ("coordinate.scope", lambda m: m.recall("a", coordinate={"scope": "world"})),
    "context budget": ("max_tokens", lambda m: m.build_context("a", max_tokens=0)),
    "recent budget": ("include_recent", lambda m: m.build_context("a", include_recent=-1)),
    "context tokens": ("max_context_tokens", lambda m: m.recall("a", max_context_tokens=-5)),
    "prune": ("keep_count", lambda m: m.prune(-1)),
    "prune naive": ("date", lambda m: m.prune_older_than(NAIVE)),
    "empty id": ("episode_id", lambda m: m.get_episode("")),
    "forget nothing": ("episode_id", lambda m: m.forget(" ")),
    "topics": ("top_n", lambda m: m.extract_topics(0)),
    "huge limit": ("limit", lambda m: m.recall("a", limit=HUGE)),
    "huge score": ("min_score", lambda m: m.recall("a", min_score=HUGE)),
    "huge recency": ("recency_weight", lambda m: m.recall("a", recency_weight=HUGE)),
    "huge weight": ("weights.decay", lambda m: m.recall("a", weights=Weights(decay=HUGE))),
    "huge importance": ("importance", lambda m: m.remember("a", importance=HUGE)),
    "huge ttl": ("ttl", lambda m: m.remember("a", ttl=HUGE)),
    "long ttl": ("ttl", lambda m: m.remember("a", ttl=1e300)),
    "huge metadata": ("metadata.x", lambda m: m.remember("a", metadata={"x": HUGE})),
    "cyclic metadata": ("metadata" + ".x" * 32, lambda m: m.remember("a", metadata=cyclic())),
    "before year 1": ("timestamp", lambda m: m.remember("a", timestamp=BEFORE_TIME)),
    "turn before year 1": ("messages[0].timestamp", lambda m: m.remember_conversation(
        [{"role": "user", "content": "a", "timestamp": BEFORE_TIME}])),
    "part after year 9999": ("timestamp", lambda m: m._write(NewEpisode((Part("a", timestamp=AFTER_TIME),)))),
    "after year 9999": ("before", lambda m: m.recall("a", before=AFTER_TIME)),
    "messages none": ("messages", lambda m: m.remember_conversation(None)),
    "messages text": ("messages", lambda m: m.remember_conversation("hello")),
    "part no part": ("part", lambda m: m._write(ANY_EPISODE(("a",)))),
    "episodes none": ("episodes", lambda m: m.remember_many(None)),
    "one episode": ("episodes", lambda m: m.remember_many(NewEpisode((Part("a"),)))),
    "weights text": ("weights", lambda m: m.recall("a", weights="recency")),
    "coordinate text": ("coordinate", lambda m: m.remember("a", coordinate="SEMANTIC")),
    "axes text": ("coordinate", lambda m: m.recall("a", coordinate="SEMANTIC")),
    "axis number": ("coordinate.scope", lambda m: m.recall("a", coordinate={"scope": 5})),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
async def test_a_bad_argument_names_its_field_and_changes_nothing(memory: AgentMemory, case: str) -> None:
    await memory.remember("What was here before stays")
    field, call = BAD[case]
    with pytest.raises(InputError) as caught:
        await call(memory)
    assert caught.value.field == field
    assert caught.value.problem
    assert caught.value.fix
    assert str(caught.value).startswith(field)
    assert (await memory.get_stats()).total_chunks == 1


@pytest.mark.parametrize("scope", [None, "anna", 5])
async def test_a_missing_scope_is_an_error(memory: AgentMemory, scope: Any) -> None:
    """N11: mandatory and typed; never 'all'."""
    with pytest.raises(ScopeError):
        memory.scoped(scope)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Scope.of_user(""),
        lambda: ANY_SCOPE.of_user(None),
        lambda: Scope.of_session("s", ""),
        lambda: Scope.shared("a\0"),
        lambda: Scope("user"),
        lambda: Scope("app", user="a"),
        lambda: ANY_SCOPE("world"),
        lambda: ANY_SCOPE(["app"]),
        lambda: Scope.of_user("u" * 1025),
        lambda: Scope.of_user("\ud800"),
    ],
)
def test_a_scope_cannot_be_made_wrong(make: Callable[[], Scope]) -> None:
    with pytest.raises(ScopeError):
        make()


async def broken(texts: Sequence[str]) -> list[list[float]]:
    raise RuntimeError(f"no answer for {len(texts)} texts")


def wrong_count(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, 0.0, 0.0]] * (len(texts) + 1)


def not_a_number(texts: Sequence[str]) -> list[list[float]]:
    return [[math.nan, 0.0, 0.0] for _ in texts]


def wrong_length(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, 0.0] for _ in texts]


@pytest.mark.parametrize("function", [broken, wrong_count, not_a_number, wrong_length])
async def test_an_unfit_embedder_stores_nothing(url: str, function: Any) -> None:
    """C4: an embedder that raises, returns NaN, the wrong count or the wrong length."""
    embedder = custom_embedder("mine", "m1", 3, function)
    async with await AgentMemory.open("bot", url, embedder=embedder) as memory:
        with pytest.raises(EmbedderError):
            await memory.remember("This must not be half stored")
        report = await memory.remember_many([NewEpisode((Part("one"),)), NewEpisode((Part("two"),))])
        assert [error.error for error in report.errors] == ["EmbedderError"] * 2
        assert (await memory.get_stats()).total_episodes == 0


def no_list(texts: Sequence[str]) -> None:
    """Answers nothing at all."""


class Foreign:
    """An embedder of somebody's own, which no base class checks."""

    name, model, dimensions = "mine", "m1", 3

    def __init__(self, function: Callable[[Sequence[str]], Any]) -> None:
        self.function = function

    async def embed(self, text: str) -> list[float]:
        return [1.0, 0.0, float(len(text))]

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        return [await self.embed(text) for text in texts]

    async def encode(self, texts: Sequence[str], *, query: bool = False) -> list[Encoding]:
        return [without_tokens([*vector]) for vector in self.function(texts)] if not query else []


@pytest.mark.parametrize("function", [no_list, wrong_count, not_a_number, wrong_length])
async def test_an_embedder_of_another_make_is_checked_too(url: str, function: Any) -> None:
    async with await AgentMemory.open("bot", url, embedder=Foreign(function)) as memory:
        with pytest.raises(EmbedderError):
            await memory.remember("This must not be half stored")
        with pytest.raises(EmbedderError):
            await memory.recall("anything")
        assert (await memory.get_stats()).total_episodes == 0


@pytest.mark.parametrize(("name", "value"), [("embedder", "minilm"), ("config", {"max_episodes": 3})])
def test_an_option_of_the_wrong_kind(name: str, value: Any) -> None:
    options: dict[str, Any] = {name: value}
    with pytest.raises(InputError) as caught:
        AgentMemory("bot", "memory:", **options)
    assert caught.value.field == name


async def test_the_first_and_the_last_moment_come_back(memory: AgentMemory) -> None:
    """Far times are kept exactly, and never make the store unreadable."""
    moments = [datetime.min.replace(tzinfo=UTC), datetime(1900, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
    for moment in moments:
        await memory.remember("A moment", timestamp=moment)
    assert [episode.created_at for episode in await memory.get_recent()] == moments[::-1]
    assert len((await memory.recall("moment")).results) == 3


async def picky(texts: Sequence[str]) -> list[list[float]]:
    if any("poison" in text for text in texts):
        raise RuntimeError("refused")
    return [[1.0, 0.5, 0.25] for _ in texts]


async def test_one_bad_text_does_not_cost_its_neighbours_their_place(url: str) -> None:
    async with await AgentMemory.open("bot", url, embedder=custom_embedder("mine", "m1", 3, picky)) as memory:
        report = await memory.remember_many([NewEpisode((Part(text),)) for text in ("bread", "poison", "butter")])
        assert sorted(report.added) == [0, 2]
        assert [error.index for error in report.errors] == [1]


async def test_models_are_never_mixed(tmp_path: Path) -> None:
    """A store remembers model and dimension and refuses another one."""
    url = f"sqlite:///{tmp_path}/a.db"
    async with await AgentMemory.open("bot", url, embedder=HashEmbedder()) as memory:
        await memory.remember("Filled by the first model")
    other = custom_embedder("mine", "m1", 3, picky)
    async with await AgentMemory.open("bot", url, embedder=other) as memory:
        with pytest.raises(EmbedderMismatchError, match="m1"):
            await memory.remember("By another")
        with pytest.raises(EmbedderMismatchError):
            await memory.recall("first")
        assert len(await memory.get_recent()) == 1


async def test_a_file_belongs_to_one_agent(tmp_path: Path) -> None:
    """C16: one agent, one file."""
    url = f"sqlite:///{tmp_path}/a.db"
    async with await AgentMemory.open("one", url, embedder=HashEmbedder()) as memory:
        await memory.remember("mine")
    with pytest.raises(AgentMismatchError):
        await AgentMemory.open("two", url, embedder=HashEmbedder())
    folder = f"sqlite:///{tmp_path}/many/"
    for agent in ("one", "ONE", "o/ne", "日本", "x" * 300):
        async with await AgentMemory.open(agent, folder, embedder=HashEmbedder()) as memory:
            await memory.remember(f"only {len(agent)}")
            assert (await memory.get_stats()).total_episodes == 1


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ("", InputError), (" ", InputError), ("nonsense", InputError), ("memory:/tmp/file", InputError),
        ("sqlite:///\ud800.db", InputError), ("ftp://x", InputError), ("redis://localhost", MissingPartError),
        ("postgresql://localhost/x", MissingPartError),
    ],
)  # fmt: skip
def test_urls_that_lead_nowhere(bad: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        AgentMemory("bot", bad)


@pytest.mark.parametrize("agent", ["", " ", None, 3, "a\0b", "\udfff"])
def test_agent_ids(agent: Any) -> None:
    with pytest.raises(ScopeError):
        AgentMemory(agent, "memory:")


@pytest.mark.parametrize(
    "options",
    [
        {"default_ttl": -1},
        {"default_ttl": math.inf},
        {"default_ttl": 1e300},
        {"max_episodes": HUGE},
        {"max_episodes": -1},
        {"max_text_bytes": 0},
    ],
)
def test_configs_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        MemoryConfig(**options)


async def test_a_config_bounds_the_memory(url: str) -> None:
    """C1: max episodes, auto-prune, default TTL, text limit."""
    pruned = MemoryConfig(url=url, max_episodes=3, auto_prune=True, max_text_bytes=40)
    async with AgentMemory("bot", embedder=HashEmbedder(), config=pruned) as memory:
        ids = [(await memory.remember(f"note {number}")).id for number in range(5)]
        assert [episode.id for episode in await memory.get_recent()] == ids[:1:-1]
        with pytest.raises(InputError, match="text"):
            await memory.remember("x" * 41)


async def test_a_full_memory_refuses(url: str) -> None:
    config = MemoryConfig(url=url, max_episodes=1)
    async with AgentMemory("bot", embedder=HashEmbedder(), config=config) as memory:
        await memory.remember("note")
        with pytest.raises(StoreFullError, match="auto_prune"):
            await memory.remember("another note")
        assert (await memory.get_stats()).total_episodes == 1


async def test_the_factories(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """C1: create_agent_memory and create_agent_memory_from_env open themselves at the first call."""
    monkeypatch.setenv("BYHEART_URL", f"sqlite:///{tmp_path}/env.db")
    monkeypatch.setenv("BYHEART_EMBEDDER", "hash")
    monkeypatch.delenv("KV_REST_API_URL", raising=False)
    memory = create_agent_memory_from_env("bot")
    episode = await memory.remember("through the environment")
    await memory.close()
    again = create_agent_memory("bot", MemoryConfig(url=f"sqlite:///{tmp_path}/env.db"))
    assert await again.get_episode(episode.id) == episode
    await again.close()
    monkeypatch.setenv("KV_REST_API_URL", "https://example.invalid")
    with pytest.raises(MissingPartError):
        create_agent_memory_from_env("bot")


async def test_a_path_that_cannot_be_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        await AgentMemory.open("bot", f"sqlite:///{tmp_path}", embedder=HashEmbedder())
    (tmp_path / "letter.txt").write_text("Dear Anna, " * 500)
    with pytest.raises(StoreError):
        await AgentMemory.open("bot", f"sqlite:///{tmp_path}/letter.txt", embedder=HashEmbedder())
    assert (tmp_path / "letter.txt").read_text() == "Dear Anna, " * 500
