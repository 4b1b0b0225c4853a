import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import anyio
import numpy as np
import pytest

from byheart.models.base import BaseEmbedder, Encoding
from byheart.retrieval.codec import CODEC, decode_vector, encode_tokens, encode_vector
from byheart.retrieval.document import document_terms, indexed_text
from byheart.retrieval.recall import LEAST_RELEVANCE, Retriever
from byheart.stores.base import EpisodeRow, MemoryRow, ModelIdentity
from byheart.stores.memory import MemoryStore
from byheart.testing.embedders import HashEmbedder
from byheart.types import EpisodeType, Filter, RecallResult, Scope, Weights

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
APP = Scope.app()
ANN = Scope.of_user("Ann")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Pooled(BaseEmbedder):
    """The hash embedder without its token vectors."""

    def __init__(self) -> None:
        super().__init__("pooled", "pooled-64", 64)
        self._inner = HashEmbedder()

    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:
        encodings = await self._inner.encode(texts, query=query)
        return [Encoding(one.pooled, one.tokens[:0], one.offsets[:0]) for one in encodings]


@dataclass
class Desk:
    """A store, its retriever, and a short way to fill the one and ask the other."""

    store: MemoryStore
    retriever: Retriever
    embedder: BaseEmbedder

    async def add(
        self,
        *texts: str,
        scope: Scope = APP,
        session: str | None = None,
        kind: EpisodeType = "conversation",
        tags: tuple[str, ...] = (),
        importance: float = 0.5,
        said: datetime = NOW - timedelta(days=30),
        expires: datetime | None = None,
    ) -> str:
        encodings = await self.embedder.encode([indexed_text(text, speaker=None) for text in texts])
        memories = tuple(
            MemoryRow(
                id=str(uuid.uuid4()),
                key=f"{place}",
                text=text,
                timestamp=said,
                terms=document_terms(text, speaker=None, timestamp=said),
                vector=encode_vector(encoding.pooled),
                tokens=encode_tokens(encoding, indexed_text(text, speaker=None)),
                importance=importance,
            )
            for place, (text, encoding) in enumerate(zip(texts, encodings, strict=True))
        )
        row = EpisodeRow(str(uuid.uuid4()), kind, tags, {}, said, NOW, memories, session=session, expires_at=expires)
        [added] = await self.store.add(scope, [row])
        return added.episode_id

    async def ask(self, query: str, scope: Scope = APP, **options: object) -> RecallResult:
        return await self.retriever.recall(scope, query, now=NOW, **options)  # pyright: ignore[reportArgumentType]


async def desk(embedder: BaseEmbedder | None = None, *, memory_ceiling: int = 1 << 30) -> Desk:
    embedder = embedder or HashEmbedder()
    store = MemoryStore("agent")
    await store.open()
    await store.bind_model(ModelIdentity(embedder.model, embedder.dimensions, CODEC))
    return Desk(store, Retriever(store, embedder, memory_ceiling=memory_ceiling), embedder)


FILLER = [f"Remark number {number} about plain things." for number in range(40)]


def texts(result: RecallResult) -> list[str]:
    return [hit.chunk.text for hit in result.results]


@pytest.mark.parametrize("embedder", [HashEmbedder(), Pooled()], ids=["tokens", "pooled"])
async def test_what_the_query_names_comes_first(embedder: BaseEmbedder) -> None:
    """C2, C3: with token vectors and without."""
    here = await desk(embedder)
    await here.add(*FILLER)
    await here.add("The zebra lives in Kyoto.", session="s")
    result = await here.ask("Where does the zebra live?")
    [first, *_] = result.results
    assert first.chunk.text == "The zebra lives in Kyoto."
    assert first.matched_terms == ("zebra", "live")
    assert first.highlights == ("The **zebra** **lives** in Kyoto.",)
    assert len(result.results) == 10
    assert result.total_matches >= 10


async def test_every_hit_explains_its_score() -> None:
    """P8, N13: score = w_rel*relevance + w_imp*importance + w_rec*recency, and the trace adds up to the relevance."""
    here = await desk()
    await here.add(*FILLER, importance=0.3)
    await here.add("The zebra lives in Kyoto.", importance=0.9, said=NOW - timedelta(hours=10))
    weights = Weights(0.6, 0.3, 0.1, decay=0.02)
    result = await here.ask("zebra in Kyoto", weights=weights)
    for hit in result.results:
        terms = hit.terms
        assert hit.score == pytest.approx(0.6 * terms.relevance + 0.3 * terms.importance + 0.1 * terms.recency)
        hours = (NOW - hit.chunk.timestamp) / timedelta(hours=1)
        assert terms.recency == pytest.approx(math.exp(-0.02 * hours))
        assert terms.importance == pytest.approx(hit.chunk.importance)
        assert sum(hit.trace.contributions.values()) == pytest.approx(terms.relevance, abs=1e-4)
        assert 0 <= terms.relevance <= 1
    assert result.results[0].terms.importance == pytest.approx(0.9)
    assert result.results[0].trace.ranks["bm25"] == 1
    assert [hit.score for hit in result.results] == sorted((hit.score for hit in result.results), reverse=True)


async def test_recency_counts_from_the_last_access() -> None:
    """P8, P10: an access makes a memory as recent as one that was just said."""
    here = await desk()
    await here.add("The zebra lives in Kyoto.")
    before = (await here.ask("zebra")).results[0]
    await here.store.record_access(APP, [1], NOW - timedelta(hours=1))
    after = (await here.ask("zebra")).results[0]
    assert before.terms.recency == pytest.approx(math.exp(-0.01 * 30 * 24))
    assert after.terms.recency == pytest.approx(math.exp(-0.01))


async def test_the_trace_says_what_was_done() -> None:
    """P7, N13: queries, candidates of each source, what was searched, and times."""
    here = await desk()
    await here.add(*FILLER, tags=("plain",))
    await here.add("The zebra lives in Kyoto.")
    trace = (await here.ask("Zebra! Where are you?", filter=Filter(tags=("plain",)))).trace
    assert trace.queries == ("Zebra! Where are you?", "Zebra", "Zebra!", "Where are you?")
    assert trace.searched == {"memories": 41, "allowed": 40}
    assert trace.candidates["vector"] == 25
    assert trace.candidates["union"] >= 25
    assert set(trace.timings_ms) == {"embed", "terms", "load", "search", "read", "highlight"}


async def test_a_turn_is_helped_by_what_stands_beside_it() -> None:
    """A short answer has none of the question's words, the turn before it has all of them."""
    here = await desk()
    await here.add(*FILLER, session="other")
    await here.add("Where did the zebra of Kyoto go?", "Home.", session="s")
    found = texts(await here.ask("Where did the zebra of Kyoto go?", limit=2))
    assert found == ["Where did the zebra of Kyoto go?", "Home."]


async def test_a_scope_reads_its_own_and_what_it_inherits_and_nothing_else() -> None:
    """N11: two users of one agent never see each other's memories."""
    here = await desk()
    await here.add("The zebra is everybody's.")
    await here.add("The zebra is Ann's.", scope=ANN)
    await here.add("The zebra is Bob's.", scope=Scope.of_user("Bob"))
    assert set(texts(await here.ask("zebra", ANN))) == {"The zebra is everybody's.", "The zebra is Ann's."}
    assert texts(await here.ask("zebra")) == ["The zebra is everybody's."]
    assert set(texts(await here.ask("zebra", Scope.of_session("s", "Ann")))) == {
        "The zebra is everybody's.",
        "The zebra is Ann's.",
    }


async def test_filters_hold() -> None:
    """C2, G24: types, tags (AND), after, before, session, coordinate; expired memories are gone."""
    here = await desk()
    await here.add("Zebra fact.", kind="fact", tags=("a", "b"), said=NOW - timedelta(days=3))
    await here.add("Zebra talk.", session="s", tags=("a",), said=NOW - timedelta(days=2))
    await here.add("Zebra over.", expires=NOW + timedelta(days=3650), said=NOW - timedelta(days=1))

    async def found(**options: object) -> set[str]:
        return set(texts(await here.ask("zebra", filter=Filter(**options))))  # pyright: ignore[reportArgumentType]

    assert await found() == {"Zebra fact.", "Zebra talk.", "Zebra over."}
    assert await found(types=("fact",)) == {"Zebra fact."}
    assert await found(tags=("a",)) == {"Zebra fact.", "Zebra talk."}
    assert await found(tags=("a", "b")) == {"Zebra fact."}
    assert await found(session="s") == {"Zebra talk."}
    assert await found(session="unknown") == set()
    assert await found(after=NOW - timedelta(days=2)) == {"Zebra talk.", "Zebra over."}
    assert await found(before=NOW - timedelta(days=2)) == {"Zebra fact."}
    assert await found(coordinate={"source": ("inferred",)}) == set()
    later = await here.retriever.recall(APP, "zebra", now=NOW + timedelta(days=3651))
    assert "Zebra over." not in texts(later)


async def test_limit_and_least_score() -> None:
    """C2: min_score filters on the final score; total_matches counts what limit cut."""
    here = await desk()
    await here.add(*FILLER)
    await here.add("The zebra lives in Kyoto.")
    everything = await here.ask("zebra Kyoto", limit=41)
    assert len(everything.results) == 41
    least = everything.results[0].score
    [only] = (await here.ask("zebra Kyoto", min_score=least)).results
    assert only.chunk.text == "The zebra lives in Kyoto."
    assert (await here.ask("zebra Kyoto", limit=3)).total_matches >= 3
    assert not (await here.ask("zebra Kyoto", min_score=1.0)).results


async def test_an_empty_memory_answers_nothing() -> None:
    here = await desk()
    result = await here.ask("anything?", ANN)
    assert (result.results, result.total_matches) == ((), 0)
    assert await here.retriever.similar(APP, "anything", now=NOW) == []
    assert await here.retriever.evidence(APP, "anything", max_tokens=100, now=NOW) == []
    assert await here.retriever.topics(APP, 5) == []
    assert await here.retriever.unique_words(APP) == 0


async def test_what_is_written_or_deleted_shows_at_the_next_call() -> None:
    here = await desk()
    episode = await here.add("The zebra lives in Kyoto.")
    assert len((await here.ask("zebra")).results) == 1
    await here.add("A second zebra.")
    assert len((await here.ask("zebra")).results) == 2
    await here.store.delete(APP, [episode])
    assert texts(await here.ask("zebra")) == ["A second zebra."]
    await here.store.clear()
    assert not (await here.ask("zebra")).results


async def test_similar_is_the_exact_cosine() -> None:
    """C2, C5: the score is the cosine, cut to 0..1; the order is that of the exact scan."""
    here = await desk()
    await here.add(*FILLER, "The zebra lives in Kyoto.")
    hits = await here.retriever.similar(APP, "zebra Kyoto plain", limit=7, now=NOW)
    [asked] = await here.embedder.encode(["zebra Kyoto plain"])
    stored = await here.store.changes(APP, 0)
    cosines = sorted((float(decode_vector(row.vector) @ asked.pooled) for row in stored.rows), reverse=True)
    assert [hit.score for hit in hits] == pytest.approx(np.clip(cosines[:7], 0, 1).tolist(), abs=1e-5)
    assert await here.retriever.similar(APP, "zebra", min_score=0.999, now=NOW) == []


async def test_topics_are_words_as_a_text_has_them() -> None:
    """C2: extract_topics gives words, not stems."""
    here = await desk()
    await here.add("Hiking near Denver.", "Denver hiking again.", "More hiking!")
    assert set(await here.retriever.topics(APP, 2)) <= {"Hiking", "hiking", "Denver", "near", "again", "More"}
    assert "Hiking" in await here.retriever.topics(APP, 10)
    assert await here.retriever.unique_words(APP) >= 2


async def test_many_calls_at_once_load_once_and_agree() -> None:
    here = await desk()
    await here.add(*FILLER, "The zebra lives in Kyoto.")
    found: list[list[str]] = []

    async def ask() -> None:
        found.append(texts(await here.ask("zebra")))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(ask)
    assert len(found) == 8
    assert all(one == found[0] for one in found)


async def test_partitions_that_were_let_go_are_loaded_again() -> None:
    """The ceiling bounds what stays loaded, not what can be asked."""
    here = await desk(memory_ceiling=0)
    await here.add("The zebra is everybody's.")
    await here.add("The zebra is Ann's.", scope=ANN)
    for _ in range(2):
        assert len((await here.ask("zebra", ANN)).results) == 2


async def test_evidence_is_what_recall_finds_and_more() -> None:
    here = await desk()
    await here.add(*FILLER, "The zebra lives in Kyoto.")
    evidence = await here.retriever.evidence(APP, "zebra", max_tokens=240, now=NOW)
    hits = (await here.ask("zebra", limit=30)).results
    relevant = [hit.chunk.id for hit in hits if hit.terms.relevance > LEAST_RELEVANCE]
    assert [one.chunk.id for one in evidence] == relevant
    assert 1 <= len(relevant) < 30
