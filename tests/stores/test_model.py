"""Bar 13: whatever is done to them, the SQLite store and the store in the process tell the same."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from byheart.errors import ByheartError
from byheart.stores.base import EpisodeRow, Store
from byheart.stores.memory import MemoryStore
from byheart.stores.sqlite import SQLiteStore
from byheart.testing.stores import (
    AGENT,
    ALICE,
    APP,
    BOB,
    LONG_AGO,
    NEVER,
    NOON,
    assert_terms_exact,
    episode_row,
)
from byheart.types import EPISODE_TYPES, Scope

SCOPES = [APP, ALICE, BOB, Scope.of_session("s%", "alice"), Scope.shared("alice")]
IDS = [f"e{number}" for number in range(8)]
KEYS = ["k", "K", "k%", "日本"]
TAGS = ["x", "y", "x_", "ä"]

texts = st.lists(st.sampled_from(["red", "blue", "red red", "fish blue", "日本 fish", ""]), max_size=3, unique=True)


@st.composite
def episode_rows(draw: st.DrawFn) -> EpisodeRow:
    return episode_row(
        *draw(texts),
        id=draw(st.sampled_from(IDS)),
        type=draw(st.sampled_from(EPISODE_TYPES)),
        tags=tuple(draw(st.lists(st.sampled_from(TAGS), max_size=3))),
        session=draw(st.sampled_from([None, "s", "s_"])),
        key=draw(st.sampled_from([None, *KEYS])),
        created_at=NOON + timedelta(days=draw(st.integers(0, 5))),
        expires_at=draw(st.sampled_from([None, None, None, LONG_AGO, NEVER])),
    )


scopes = st.sampled_from(SCOPES)


class StoresAgree(RuleBasedStateMachine):
    @initialize(limit=st.sampled_from([0, 0, 4]), auto_prune=st.booleans())
    def begin(self, limit: int, *, auto_prune: bool) -> None:
        self.runner = asyncio.Runner()
        self.folder = TemporaryDirectory()
        path = Path(self.folder.name) / "store.db"
        self.stores: list[Store] = [
            MemoryStore(AGENT, max_episodes=limit, auto_prune=auto_prune),
            SQLiteStore(path, AGENT, max_episodes=limit, auto_prune=auto_prune),
        ]
        self.both(lambda store: store.open())

    def teardown(self) -> None:
        self.both(lambda store: store.close())
        self.runner.close()
        self.folder.cleanup()

    def both(self, verb: Callable[[Store], Awaitable[object]]) -> object:
        """Do the same to both; the answers, or the kinds of error, are equal."""

        async def call(store: Store) -> object:
            try:
                return await verb(store)
            except ByheartError as error:
                return type(error)

        first, second = (self.runner.run(call(store)) for store in self.stores)
        assert first == second
        return first

    @rule(scope=scopes, batch=st.lists(episode_rows(), max_size=4))
    def add(self, scope: Scope, batch: Sequence[EpisodeRow]) -> None:
        self.both(lambda store: store.add(scope, batch))

    @rule(scope=scopes, ids=st.lists(st.sampled_from(IDS), max_size=3))
    def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        self.both(lambda store: store.delete(scope, ids))

    @rule(scope=scopes, keep=st.none() | st.integers(0, 3), days=st.none() | st.integers(0, 5))
    def prune(self, scope: Scope, keep: int | None, days: int | None) -> None:
        older_than = None if days is None else NOON + timedelta(days=days)
        self.both(lambda store: store.prune(scope, keep=keep, older_than=older_than))

    @rule(scope=scopes, id_=st.sampled_from(IDS), add=st.lists(st.sampled_from(TAGS)), remove=st.sampled_from(TAGS))
    def edit_tags(self, scope: Scope, id_: str, add: Sequence[str], remove: str) -> None:
        self.both(lambda store: store.edit_tags(scope, id_, add, [remove]))

    @rule(scope=scopes, seqs=st.lists(st.integers(0, 12), max_size=4), hours=st.integers(0, 3))
    def record_access(self, scope: Scope, seqs: Sequence[int], hours: int) -> None:
        self.both(lambda store: store.record_access(scope, seqs, NOON + timedelta(hours=hours)))

    @rule(cleared=st.none() | st.lists(scopes, max_size=2))
    def clear(self, cleared: Sequence[Scope] | None) -> None:
        async def clear(store: Store) -> None:
            await store.clear(cleared)

        self.both(clear)

    @rule()
    def reopen(self) -> None:
        self.both(lambda store: store.close())
        self.both(lambda store: store.open())

    @invariant()
    def they_tell_the_same(self) -> None:
        self.both(lambda store: store.scopes())
        self.both(lambda store: store.tags(SCOPES))
        self.both(lambda store: store.counts(SCOPES))
        for scope in SCOPES:
            self.both(lambda store, scope=scope: _everything(store, scope))
        self.runner.run(assert_terms_exact(self.stores[1], SCOPES))
        assert all(check.ok for check in self.runner.run(self.stores[1].check()))


async def _everything(store: Store, scope: Scope) -> object:
    episodes = await store.recent([scope], 99)
    index = (await store.changes(scope, 0)).rows
    return (
        # The time of a change of tags is the clock's, which runs on between the two.
        [replace(episode, updated_at=NOON) for episode in episodes],
        [await store.get([scope], episode.id) is not None for episode in episodes],
        list(index),
        [memory.chunk for memory in await store.read(scope, [row.seq for row in index])],
        [episode.id for episode in await store.recent([scope], 3, ["fact", "event"], ["x"])],
        list(await store.tagged(scope, ["x", "y"])),
        [await store.session_number(scope, session) for session in ("s", "s_", "none")],
        await store.known_parts(scope, KEYS),
        await store.term_stats(["red", "blue", "fish", "日本"]),
    )


# A run is a hundred transactions on a disk: shrinking one would take minutes.
StoresAgree.TestCase.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate)
)
TestStoresAgree = pytest.mark.filterwarnings("default::ResourceWarning")(StoresAgree.TestCase)
