"""What a store must do, as a suite of tests to inherit; needs pytest and anyio's pytest plugin."""

# ruff: noqa: S101 - these are tests

import struct
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypedDict, Unpack

import pytest

from byheart.errors import EmbedderMismatchError, InputError, StoreError, StoreFullError
from byheart.stores.base import (
    EpisodeRow,
    IndexRow,
    MemoryRow,
    ModelIdentity,
    Store,
    from_micros,
    to_micros,
)
from byheart.types import Coordinate, EpisodeType, Scope

AGENT = "agent"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEVER = datetime(2999, 1, 1, tzinfo=UTC)
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)
APP = Scope.app()
ALICE = Scope.of_user("alice")
BOB = Scope.of_user("bob")
MODEL = ModelIdentity("mini", 4, "f16")

#: Ids that a pattern, a prefix, a case fold or a normalisation would take for one another (N11).
TRICKY_IDS = ("a", "a_b", "a%", "a\\", "A", "ａ", "*", "a.b", "a-b", "á", "a\u0301", "日本", "x" * 300, "a' OR 1=1 --")


class StoreMaker(Protocol):
    """Makes an unopened store of agent `AGENT`, each in a place of its own."""

    def __call__(self, *, max_episodes: int = 0, auto_prune: bool = False) -> Store:
        """Make one."""
        ...


class EpisodeOptions(TypedDict, total=False):
    """What `episode_row` may be told besides its texts."""

    id: str
    type: EpisodeType
    tags: tuple[str, ...]
    session: str | None
    key: str | None
    created_at: datetime
    expires_at: datetime | None


def memory_row(text: str, key: str = "part") -> MemoryRow:
    """A memory whose terms are its words, and whose vector is told by its text."""
    words = text.split()
    terms = {word: words.count(word) for word in dict.fromkeys(words)}
    vector = struct.pack("<4H", *(len(text) + axis for axis in range(4)))
    return MemoryRow(str(uuid.uuid4()), key, text, NOON, terms, vector, text.encode()[:8])


def episode_row(*texts: str, **options: Unpack[EpisodeOptions]) -> EpisodeRow:
    """An episode with a memory for each text, whose part key is the text."""
    return EpisodeRow(
        id=options.get("id", f"ep-{uuid.uuid4()}"),
        type=options.get("type", "conversation"),
        tags=options.get("tags", ()),
        metadata={"n": len(texts)},
        created_at=options.get("created_at", NOON),
        recorded_at=NOON,
        memories=tuple(memory_row(text, text) for text in texts),
        session=options.get("session"),
        key=options.get("key"),
        expires_at=options.get("expires_at"),
    )


async def index_of(store: Store, scope: Scope) -> dict[int, IndexRow]:
    """Everything the search arrays of a scope would hold."""
    return {row.seq: row for row in (await store.changes(scope, 0)).rows}


async def texts_of(store: Store, scope: Scope) -> list[str]:
    """The texts of a scope in the order they were written."""
    return [memory.chunk.text for memory in await store.read(scope, sorted(await index_of(store, scope)))]


async def assert_unchanged(store: Store, scope: Scope, version: int) -> None:
    """Nothing of a scope was written since a version."""
    delta = await store.changes(scope, version)
    assert (delta.version, delta.reset, list(delta.rows), list(delta.deleted)) == (version, False, [], [])


async def assert_terms_exact(store: Store, scopes: Sequence[Scope]) -> None:
    """Count every term again from the rows, and compare with what the store says of it."""
    counts: dict[int, int] = {}
    documents = 0
    for scope in scopes:
        for row in (await index_of(store, scope)).values():
            documents += 1
            for (number,) in struct.iter_unpack("<i", row.term_ids):
                counts[number] = counts.get(number, 0) + 1
    names = await store.term_texts(list(counts))
    assert names.keys() == counts.keys()
    stats = await store.term_stats(list(names.values()))
    assert stats.documents == documents
    assert stats.terms == {name: (number, counts[number]) for number, name in names.items()}


@pytest.mark.anyio
class StoreContract:
    """Tests that every store passes. Inherit them, and give the fixture `make_store`.

    ```python
    class TestMine(StoreContract):
        @pytest.fixture
        def make_store(self) -> StoreMaker:
            return MyStore
    ```
    """

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The event loop that the tests run on."""
        return "asyncio"

    @pytest.fixture
    def make_store(self) -> StoreMaker:
        """How to make the store under test."""
        raise NotImplementedError

    @pytest.fixture
    async def store(self, make_store: StoreMaker) -> AsyncIterator[Store]:
        """An open, empty store."""
        store = make_store()
        await store.open()
        yield store
        await store.close()

    @pytest.fixture
    def reopen(self) -> Callable[[Store], Awaitable[None]]:
        """How to close a store and open it again."""

        async def again(store: Store) -> None:
            await store.close()
            await store.open()

        return again

    async def test_an_episode_comes_back_as_it_was(
        self, store: Store, reopen: Callable[[Store], Awaitable[None]]
    ) -> None:
        """P3: every value of a row is there after opening again, in any script."""
        coordinate = Coordinate(information="SEMANTIC", source="tool_output", modality="image")
        memory = MemoryRow(
            id=str(uuid.uuid4()),
            key="k",
            text="日本 🙂 mixed\ttext",
            timestamp=NOON - timedelta(microseconds=1),
            terms={"日本": 1, "mixed": 2},
            vector=b"\0\1\2",
            tokens=b"\xff" * 9,
            speaker="Çağrı",
            role="planner",
            source_id="msg-1",
            importance=0.125,
            coordinate=coordinate,
        )
        metadata = {"b": [1, 2.5, None, True], "a": {"深": "値"}}
        row = EpisodeRow("ep1", "fact", ("z", "ä"), metadata, NOON, NOON, (memory,), "s 1", "key", NEVER)
        assert [(a.episode_id, a.memories_added) for a in await store.add(ALICE, [row])] == [("ep1", 1)]
        await reopen(store)
        episode = await store.get([ALICE], "ep1")
        assert episode is not None
        assert (episode.agent_id, episode.scope, episode.type, episode.tags) == (AGENT, ALICE, "fact", ("z", "ä"))
        assert (episode.metadata, episode.session, episode.expires_at) == (metadata, "s 1", NEVER)
        assert (episode.created_at, episode.updated_at, episode.recorded_at, episode.chunk_count) == (*[NOON] * 3, 1)
        [chunk] = episode.chunks
        assert (chunk.id, chunk.memory_id, chunk.episode_id, chunk.index) == ("chunk_ep1_0", memory.id, "ep1", 0)
        assert (chunk.text, chunk.timestamp, chunk.speaker, chunk.role, chunk.source_id) == (
            memory.text, memory.timestamp, "Çağrı", "planner", "msg-1")  # fmt: skip
        assert (chunk.importance, chunk.last_accessed, chunk.coordinate) == (0.125, None, coordinate)
        [index] = (await store.changes(ALICE, 0)).rows
        assert (index.timestamp, index.expires) == (to_micros(memory.timestamp), to_micros(NEVER))
        assert (index.importance, index.type, index.role, index.coordinate) == (0.125, 2, 5, coordinate.codes())
        assert (index.vector, index.tokens, index.term_counts) == (b"\0\1\2", b"\xff" * 9, struct.pack("<2i", 1, 2))
        assert await store.term_texts(struct.unpack("<2i", index.term_ids)) == dict(
            zip(struct.unpack("<2i", index.term_ids), memory.terms, strict=True)
        )

    async def test_scopes_never_mix(self, store: Store) -> None:
        """N11, T5: ids that look alike to patterns, prefixes and case folding are different scopes in every verb."""
        users = [Scope.of_user(id_) for id_ in TRICKY_IDS]
        sessions = [Scope.of_session(id_, "a") for id_ in TRICKY_IDS]
        scopes = [APP, *users, *sessions, *(Scope.shared(id_) for id_ in TRICKY_IDS)]
        for number, scope in enumerate(scopes):
            await store.add(scope, [episode_row(f"text of {number}", id=f"e{number}", tags=(f"t{number}",), key="k")])
        assert await store.scopes() == scopes
        for number, scope in enumerate(scopes):
            assert await texts_of(store, scope) == [f"text of {number}"]
            assert [episode.id for episode in await store.recent([scope], 99)] == [f"e{number}"]
            assert await store.tags([scope]) == [f"t{number}"]
            assert (await store.counts([scope])).episodes == 1
            assert await store.known_parts(scope, ["k"]) == {"k": frozenset({f"text of {number}"})}
            assert await store.get([scope], f"e{number + 1}") is None
            assert await store.delete(scope, [f"e{number + 1}", f"e{number - 1}"]) == 0
            assert await store.tagged(scope, [f"t{number + 1}"]) == []
            assert not await store.edit_tags(scope, f"e{number + 1}", ["x"], [])
        assert await store.delete(Scope.of_user("a"), ["e1"]) == 1
        assert await store.scopes() == [scope for scope in scopes if scope != Scope.of_user("a")]

    async def test_what_is_not_there_reads_as_empty(self, store: Store) -> None:
        """N11: a scope that holds nothing is empty in every verb, and a read makes nothing."""
        assert await store.get([ALICE, APP], "nothing") is None
        assert await store.recent([ALICE, APP], 5) == []
        assert await store.read(ALICE, [1, 2]) == []
        assert await store.tags([ALICE]) == []
        assert await store.tagged(ALICE, ["x"]) == []
        assert await store.known_parts(ALICE, ["x"]) == {}
        assert await store.session_number(ALICE, "s") == -1
        assert (await store.counts([ALICE])).oldest is None
        assert (await store.changes(ALICE, 0)).rows == ()
        assert await store.prune(ALICE, keep=0) == 0
        assert not await store.edit_tags(ALICE, "nothing", ["x"], [])
        await store.record_access(ALICE, [1], NOON)
        assert await store.scopes() == []
        for unstorable in ("\0", "\ud800"):
            assert await store.get([ALICE], unstorable) is None
            assert await store.delete(ALICE, [unstorable]) == 0
            assert (await store.term_stats([unstorable])).terms == {}

    async def test_a_key_makes_a_write_idempotent(self, store: Store) -> None:
        """P3, bar 7: a second write of a key adds the parts that are new, and nothing else changes."""
        first, again = episode_row("one", "two", key="k", tags=("t",)), episode_row("two", "three", key="k")
        await store.add(ALICE, [first])
        before = await store.changes(ALICE, 0)
        assert [(a.episode_id, a.memories_added) for a in await store.add(ALICE, [first])] == [(first.id, 0)]
        await assert_unchanged(store, ALICE, before.version)
        assert [(a.episode_id, a.memories_added) for a in await store.add(ALICE, [again])] == [(first.id, 1)]
        episode = await store.get([ALICE], first.id)
        assert episode is not None
        assert [(chunk.index, chunk.text) for chunk in episode.chunks] == [(0, "one"), (1, "two"), (2, "three")]
        assert (episode.tags, episode.chunk_count) == (("t",), 3)
        assert await store.get([ALICE], again.id) is None
        assert await store.known_parts(ALICE, ["k", "other"]) == {"k": frozenset({"one", "two", "three"})}
        await assert_terms_exact(store, [ALICE])

    async def test_chunks_of_one_part_share_its_key(self, store: Store) -> None:
        """C2: a part cut into several chunks comes in whole once, and within one batch a key is one episode."""
        chunks = (memory_row("first half", "p"), memory_row("second half", "p"))
        row = EpisodeRow("e1", "document", (), {}, NOON, NOON, chunks, key="k")
        other = EpisodeRow("e2", "document", (), {}, NOON, NOON, (*chunks, memory_row("more", "q")), key="k")
        added = await store.add(ALICE, [row, other, replace(other, id="e3", key=None)])
        assert [(a.episode_id, a.memories_added) for a in added] == [("e1", 2), ("e1", 1), ("e3", 3)]
        assert await texts_of(store, ALICE) == [
            "first half",
            "second half",
            "more",
            "first half",
            "second half",
            "more",
        ]

    async def test_a_write_is_all_or_nothing(self, store: Store) -> None:
        """N10, bar 3: a batch with one bad row leaves no trace."""
        await store.add(ALICE, [episode_row("there", id="taken")])
        before = await store.changes(ALICE, 0)
        bad = [
            [episode_row("new"), episode_row("x", id="taken")],
            [episode_row("new"), episode_row("x", tags=("\ud800",))],
            [episode_row("new"), episode_row("nul \0")],
            [episode_row("new"), episode_row("x", created_at=datetime(2026, 1, 1))],  # noqa: DTZ001 - a naive time
            [episode_row("new", id="twice"), episode_row("x", id="twice")],
        ]
        for rows in bad:
            with pytest.raises(InputError):
                await store.add(BOB, rows)
        with pytest.raises(InputError):
            await store.add(ALICE, bad[0])
        await assert_unchanged(store, ALICE, before.version)
        assert await store.scopes() == [ALICE]
        await assert_terms_exact(store, [ALICE])

    async def test_the_expired_is_as_good_as_gone(self, store: Store) -> None:
        """C1: what has expired is in no read, is deleted by the next write, and its key is free again."""
        gone = episode_row("old words", id="gone", tags=("t",), key="k", session="s", expires_at=LONG_AGO)
        await store.add(ALICE, [gone, episode_row("new", id="kept", tags=("u",), expires_at=NEVER)])
        assert await store.get([ALICE], "gone") is None
        assert [episode.id for episode in await store.recent([ALICE], 9)] == ["kept"]
        assert await store.tags([ALICE]) == ["u"]
        assert (await store.counts([ALICE])).episodes == 1
        assert await store.known_parts(ALICE, ["k"]) == {}
        assert await store.tagged(ALICE, ["t"]) == []
        index = await index_of(store, ALICE)
        assert sorted(row.expires for row in index.values()) == [to_micros(LONG_AGO), to_micros(NEVER)]
        assert [memory.chunk.text for memory in await store.read(ALICE, list(index))] == ["new"]
        assert not await store.edit_tags(ALICE, "gone", ["x"], [])
        assert await store.delete(ALICE, ["gone"]) == 0
        assert len(await index_of(store, ALICE)) == 1
        assert (await store.term_stats(["old", "words", "new"])).terms.keys() == {"new"}
        assert (await store.add(ALICE, [gone]))[0].memories_added == 1
        await store.add(BOB, [episode_row("any write")])
        assert len(await index_of(store, ALICE)) == 1

    async def test_max_episodes_refuses(self, make_store: StoreMaker) -> None:
        """C1: an add beyond the limit writes nothing and says what to do; an append is no new episode."""
        store = make_store(max_episodes=2)
        await store.open()
        await store.add(ALICE, [episode_row("one", key="k")])
        await store.add(BOB, [episode_row("two")])
        with pytest.raises(StoreFullError, match="auto_prune"):
            await store.add(ALICE, [episode_row("three")])
        assert await texts_of(store, ALICE) == ["one"]
        await store.add(ALICE, [episode_row("more", key="k")])
        await assert_terms_exact(store, [ALICE, BOB])
        await store.close()

    async def test_auto_prune_makes_room(self, make_store: StoreMaker) -> None:
        """C1: the oldest by `created_at` go, of any scope; what was just written stays, unless it alone is too much."""
        store = make_store(max_episodes=3, auto_prune=True)
        await store.open()
        days = [NOON + timedelta(days=day) for day in range(9)]
        await store.add(ALICE, [episode_row("a2", created_at=days[2]), episode_row("a0", created_at=days[0])])
        await store.add(BOB, [episode_row("b1", created_at=days[1])])
        await store.add(BOB, [episode_row("ancient", created_at=LONG_AGO)])
        assert (await texts_of(store, ALICE), await texts_of(store, BOB)) == (["a2"], ["b1", "ancient"])
        await store.add(APP, [episode_row(f"n{day}", created_at=days[day]) for day in (5, 4, 3, 6)])
        assert await texts_of(store, APP) == ["n5", "n4", "n6"]
        assert await store.scopes() == [APP]
        await assert_terms_exact(store, [APP])
        await store.close()

    async def test_recent(self, store: Store) -> None:
        """C2: newest first over all scopes, ties by the last written; types any of, tags all of."""
        await store.add(ALICE, [episode_row("a", id="a", tags=("x", "y")), episode_row("b", id="b", tags=("x",))])
        await store.add(APP, [episode_row("c", id="c", type="fact", tags=("y",))])
        await store.add(BOB, [episode_row("d", id="d")])
        await store.add(ALICE, [episode_row("old", id="old", created_at=LONG_AGO, type="event", tags=("x", "y", "z"))])

        async def ids(limit: int, types: Sequence[EpisodeType] = (), tags: Sequence[str] = ()) -> list[str]:
            return [episode.id for episode in await store.recent([ALICE, APP, ALICE], limit, types, tags)]

        assert await ids(9) == ["c", "b", "a", "old"]
        assert await ids(2) == ["c", "b"]
        assert await ids(0) == []
        assert await ids(9, ["fact", "event"]) == ["c", "old"]
        assert await ids(9, tags=["x"]) == ["b", "a", "old"]
        assert await ids(9, tags=["y", "x", "y"]) == ["a", "old"]
        assert await ids(1, ["conversation"], ["x", "y"]) == ["a"]
        assert await ids(9, tags=["X"]) == []
        with pytest.raises(InputError):
            await store.recent([ALICE], -1)

    async def test_prune(self, store: Store) -> None:
        """C2: `keep` the newest, or all since a time; both together; neither is refused."""
        days = [NOON + timedelta(days=day) for day in range(6)]
        await store.add(ALICE, [episode_row(f"d{day}", created_at=days[day]) for day in (3, 0, 5, 1, 4, 2)])
        await store.add(BOB, [episode_row("other", created_at=LONG_AGO)])
        with pytest.raises(InputError):
            await store.prune(ALICE)
        with pytest.raises(InputError):
            await store.prune(ALICE, keep=-1)
        assert await store.prune(ALICE, keep=6) == 0
        assert await store.prune(ALICE, keep=5) == 1
        assert await store.prune(ALICE, older_than=days[2]) == 1
        assert await texts_of(store, ALICE) == ["d3", "d5", "d4", "d2"]
        assert await store.prune(ALICE, keep=3, older_than=days[4]) == 2
        assert await texts_of(store, ALICE) == ["d5", "d4"]
        assert await store.prune(ALICE, keep=0) == 2
        assert await store.scopes() == [BOB]
        await assert_terms_exact(store, [BOB])

    async def test_tags(self, store: Store) -> None:
        """C2: tags are added behind, removed, listed once and sorted; a memory is tagged by all of several."""
        await store.add(ALICE, [episode_row("a", "b", id="e1", tags=("x", "y", "x")), episode_row("c", tags=("y",))])
        seqs = sorted(await index_of(store, ALICE))
        assert await store.tagged(ALICE, ["x", "y"]) == seqs[:2]
        assert await store.tagged(ALICE, ["y", "y"]) == seqs
        assert await store.tagged(ALICE, []) == seqs
        assert await store.edit_tags(ALICE, "e1", ["日本", "y", "%"], ["x", "none"])
        episode = await store.get([ALICE], "e1")
        assert episode is not None
        assert episode.tags == ("y", "日本", "%")
        assert await store.tags([ALICE, BOB]) == ["%", "y", "日本"]
        assert await store.tagged(ALICE, ["x"]) == []
        assert await store.edit_tags(ALICE, "e1", [], ["y", "日本", "%"])
        assert await store.tags([ALICE]) == ["y"]
        with pytest.raises(InputError):
            await store.edit_tags(ALICE, "e1", ["\ud800"], [])

    async def test_changes_tell_what_a_reader_lacks(self, store: Store) -> None:
        """N10: applied one after another, the deltas give what a full load gives."""
        loaded: dict[int, IndexRow] = {}
        version = 0

        async def follow() -> bool:
            nonlocal version
            delta = await store.changes(ALICE, version)
            if delta.reset:
                loaded.clear()
            assert [row.seq for row in delta.rows] == sorted(row.seq for row in delta.rows)
            for seq in delta.deleted:
                loaded.pop(seq, None)
            loaded.update({row.seq: row for row in delta.rows})
            version = delta.version
            assert loaded == await index_of(store, ALICE)
            return delta.reset

        await store.add(ALICE, [episode_row("one", id="e1"), episode_row("two", "three", id="e2", key="k")])
        assert await follow()
        assert not await follow()
        await store.add(BOB, [episode_row("not hers")])
        await store.add(ALICE, [episode_row("four", id="e4"), episode_row("five", key="k")])
        assert not await follow()
        await store.delete(ALICE, ["e1"])
        await store.add(ALICE, [episode_row("six", id="e6")])
        await store.delete(ALICE, ["e6", "e4"])
        assert not await follow()
        await store.record_access(ALICE, list(loaded), NOON)
        assert not await follow()
        assert {row.last_accessed for row in loaded.values()} == {to_micros(NOON)}
        before = version
        await store.edit_tags(ALICE, "e2", ["t"], [])
        assert not await follow()
        assert version != before
        await store.clear([ALICE])
        assert await follow()
        await store.add(ALICE, [episode_row("again")])
        assert await follow()

    async def test_an_unknown_version_loads_everything(self, store: Store) -> None:
        """N10: a version that this partition never had resets, whatever number it is."""
        await store.add(ALICE, [episode_row("one")])
        await store.add(ALICE, [episode_row("two")])
        version = (await store.changes(ALICE, 0)).version
        for since in (version + 1, version + (1 << 32), 1, -1):
            delta = await store.changes(ALICE, since)
            assert (delta.reset, delta.version, len(delta.rows)) == (True, version, 2)

    async def test_seqs_are_never_used_again(self, store: Store) -> None:
        """N10: not after a deletion, not after a clear, not in another scope."""
        seen: set[int] = set()
        for scope in (ALICE, BOB, ALICE):
            await store.add(scope, [episode_row("one", "two")])
            seqs = set(await index_of(store, scope))
            assert not seqs & seen
            seen |= seqs
            await store.clear([scope])

    async def test_terms_stay_exact(self, store: Store) -> None:
        """C3: document counts follow every write, over the whole agent; a word of no memory is gone."""
        await store.add(ALICE, [episode_row("red red fish", "blue fish", id="e1"), episode_row("fish", id="e2")])
        await store.add(BOB, [episode_row("red bird", id="e3")])
        stats = await store.term_stats(["red", "fish", "none", "fish"])
        assert (stats.documents, {term: count for term, (_, count) in stats.terms.items()}) == (
            4,
            {"red": 2, "fish": 3},
        )
        blue = stats.terms.keys() | (await store.term_stats(["blue"])).terms
        await assert_terms_exact(store, [ALICE, BOB])
        await store.delete(ALICE, ["e1"])
        assert (await store.term_stats(list(blue))).terms.keys() == {"red", "fish"}
        await assert_terms_exact(store, [ALICE, BOB])
        await store.clear()
        assert await store.term_stats(["red", "fish"]) == type(stats)(0, {})

    async def test_read(self, store: Store) -> None:
        """C2: in the order asked for, without what is gone; only of the scope."""
        await store.add(ALICE, [episode_row("a", "b", id="e1", session="s"), episode_row("c", id="e2")])
        await store.add(BOB, [episode_row("his")])
        first, second, third = sorted(await index_of(store, ALICE))
        [his] = await index_of(store, BOB)
        await store.record_access(ALICE, [third, his], NOON)
        await store.record_access(ALICE, [third], LONG_AGO)
        found = await store.read(ALICE, [third, 10**12, first, his, second, -1])
        assert [(memory.seq, memory.chunk.text) for memory in found] == [(third, "c"), (first, "a"), (second, "b")]
        assert [memory.chunk.index for memory in found] == [0, 0, 1]
        assert [memory.chunk.last_accessed for memory in found] == [NOON, None, None]
        assert [memory.episode.id for memory in found] == ["e2", "e1", "e1"]
        assert (found[1].episode.session, found[1].episode.chunk_count, found[1].episode.scope) == ("s", 2, ALICE)
        assert (await index_of(store, BOB))[his].last_accessed == 0

    async def test_sessions(self, store: Store) -> None:
        """G1: equal numbers for a session's memories, other numbers for other sessions, 0 for none."""
        await store.add(ALICE, [episode_row("a", id="e1", session="s"), episode_row("b", session="s_")])
        await store.add(ALICE, [episode_row("c", id="e3", session="s"), episode_row("d")])
        numbers = [row.session for _, row in sorted((await index_of(store, ALICE)).items())]
        assert numbers[0] == numbers[2] == await store.session_number(ALICE, "s")
        assert numbers[1] == await store.session_number(ALICE, "s_")
        assert len({numbers[0], numbers[1], numbers[3]}) == 3
        assert numbers[3] == 0
        assert await store.session_number(BOB, "s") == -1
        await store.delete(ALICE, ["e1"])
        assert await store.session_number(ALICE, "s") == numbers[0]
        await store.delete(ALICE, ["e3"])
        assert await store.session_number(ALICE, "s") == -1

    async def test_counts(self, store: Store) -> None:
        """C2: episodes, memories, types and time span, over the scopes asked for."""
        await store.add(ALICE, [episode_row("a", "b"), episode_row("c", type="fact", created_at=LONG_AGO)])
        await store.add(APP, [episode_row("d", type="fact")])
        await store.add(BOB, [episode_row("e")])
        counts = await store.counts([ALICE, APP, ALICE])
        assert (counts.episodes, counts.memories) == (3, 4)
        assert counts.by_type == {"conversation": 1, "fact": 2}
        assert (counts.oldest, counts.newest) == (LONG_AGO, NOON)

    async def test_clear(self, store: Store, reopen: Callable[[Store], Awaitable[None]]) -> None:
        """N2: the named scopes are empty and the others whole; without a name everything goes."""
        await store.bind_model(MODEL)
        for scope in (APP, ALICE, BOB):
            await store.add(scope, [episode_row("text", tags=("t",), session="s", key="k")])
        await store.clear([ALICE, APP])
        assert await store.scopes() == [BOB]
        await store.clear([])
        assert await texts_of(store, BOB) == ["text"]
        await store.clear()
        await reopen(store)
        assert await store.scopes() == []
        assert (await store.term_stats(["text"])).documents == 0
        assert all(check.ok for check in await store.check())
        await store.add(ALICE, [episode_row("text", key="k")])
        assert await texts_of(store, ALICE) == ["text"]

    async def test_the_model_is_bound_once(self, store: Store, reopen: Callable[[Store], Awaitable[None]]) -> None:
        """N5: another model, dimension or codec is refused, also after opening again."""
        await store.bind_model(MODEL)
        await store.bind_model(MODEL)
        await reopen(store)
        for other in (ModelIdentity("maxi", 4, "f16"), ModelIdentity("mini", 5, "f16"), ModelIdentity("mini", 4, "i8")):
            with pytest.raises(EmbedderMismatchError, match="mini"):
                await store.bind_model(other)
        await store.bind_model(MODEL)

    async def test_check_is_clean_after_every_kind_of_write(self, store: Store) -> None:
        """N10: a store that was written to in every way reports no fault."""
        await store.bind_model(MODEL)
        await store.add(ALICE, [episode_row("a b", id="e1", session="s", tags=("t",)), episode_row("b c", key="k")])
        await store.add(ALICE, [episode_row("d", key="k"), episode_row("gone", expires_at=LONG_AGO)])
        await store.edit_tags(ALICE, "e1", ["u"], ["t"])
        await store.delete(ALICE, ["e1"])
        await store.purge()
        checks = await store.check()
        assert checks
        assert [check for check in checks if not check.ok] == []

    async def test_a_closed_store_says_so(self, make_store: StoreMaker) -> None:
        """Opening and closing twice does nothing; a verb on a closed store is an error, never an empty answer."""
        store = make_store()
        with pytest.raises(StoreError, match="not open"):
            await store.recent([ALICE], 5)
        await store.open()
        await store.open()
        assert await store.recent([ALICE], 5) == []
        await store.close()
        await store.close()
        with pytest.raises(StoreError, match="not open"):
            await store.add(ALICE, [episode_row("x")])

    async def test_times_are_exact(self, store: Store) -> None:
        """Bar 14: microseconds survive, before 1970 and far ahead, from any time zone."""
        times = [from_micros(micros) for micros in (-1, 1, -(10**15), 10**15 + 1)]
        zone = datetime.fromisoformat("2026-03-01T23:30:00.000001+05:30")
        rows = [episode_row("t", id=str(number), created_at=time) for number, time in enumerate([*times, zone])]
        await store.add(ALICE, rows)
        for number, time in enumerate([*times, zone]):
            episode = await store.get([ALICE], str(number))
            assert episode is not None
            assert episode.created_at == time
            assert episode.created_at.tzinfo is UTC
