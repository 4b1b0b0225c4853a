"""The made-up rows and vectors of the speed runs."""

from itertools import pairwise

import anyio
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.synthetic import TURNS, WORDS, SyntheticEmbedder, episodes, query, turns, word
from byheart.models.base import Encoding


def test_every_number_has_a_word_of_its_own() -> None:
    assert len({word(number) for number in range(WORDS)}) == WORDS


@given(st.integers(1, 130), st.integers(0, 5))
def test_rows_follow_from_the_seed_and_are_as_many_as_asked_for(rows: int, seed: int) -> None:
    made = list(turns(rows, seed=seed))
    again = list(turns(rows, seed=seed))
    assert [(turn.text, turn.speaker, turn.timestamp) for turn in made] == [
        (turn.text, turn.speaker, turn.timestamp) for turn in again
    ]
    assert [turn.id for turn in made] == [f"t{number}" for number in range(rows)]
    assert all(12 <= turn.words.size <= 60 for turn in made)
    assert all(one.timestamp < other.timestamp for one, other in pairwise(made))


def test_an_episode_a_session_with_all_turns() -> None:
    made = list(episodes(turns(3 * TURNS + 5, seed=1)))
    assert [len(episode.parts) for episode in made] == [TURNS, TURNS, TURNS, 5]
    assert len({episode.session for episode in made}) == 4
    assert [part.source_id for episode in made for part in episode.parts] == [f"t{n}" for n in range(3 * TURNS + 5)]


def encode(texts: list[str]) -> list[Encoding]:
    embedder = SyntheticEmbedder()

    async def run() -> list[Encoding]:
        return await embedder.encode(texts)

    return anyio.run(run)


def test_vectors_have_length_one_and_offsets_point_at_words() -> None:
    [turn] = turns(1, seed=2)
    [encoding] = encode([turn.text])
    assert np.allclose(np.linalg.norm(encoding.pooled), 1, atol=1e-5)
    assert np.allclose(np.linalg.norm(encoding.tokens, axis=1), 1, atol=1e-5)
    words = [turn.text[start:end] for start, end in encoding.offsets.tolist()]
    assert words == [word(int(number)) for number in turn.words]


def test_a_query_lies_nearer_to_its_turn_than_to_most_others() -> None:
    made = list(turns(400, seed=4))
    generator = np.random.default_rng(1)
    encodings = encode([turn.text for turn in made] + [query(turn, generator) for turn in made[:40]])
    rows = np.stack([encoding.pooled for encoding in encodings[:400]])
    asked = np.stack([encoding.pooled for encoding in encodings[400:]])
    scores = asked @ rows.T
    above = (scores > scores[np.arange(40), np.arange(40)][:, None]).sum(axis=1)
    assert np.median(above) < 100
