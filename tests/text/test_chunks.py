"""Chunks (C2): whole where they can be, bounded, overlapping, complete."""

from itertools import pairwise
from typing import cast

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from byheart.errors import InputError
from byheart.text.chunks import chunk
from byheart.text.tokens import estimate_tokens
from byheart.types import SplitOn

SPLITS: list[SplitOn] = ["sentence", "paragraph", "fixed"]
WORDS = [
    "Anna",
    "went",
    "home.",
    "Why?",
    "I",
    "don't",
    "\n\n",
    "\n",
    "  ",
    "\t",
    "()",
    "x" * 30,
    "e\u0301t\u0301",
    "\u0301",
]
SIGNS = ["👩\u200d👩\u200d👧", "🇩🇪🇫🇷", "日本語。", "。", "ภาษา", "한국어", "\u1112\u1161\u11ab", "का\u200dक्षि", "\r\n"]
PROSE = st.lists(st.sampled_from(WORDS + SIGNS), max_size=60).map(" ".join)
ANY_TEXT = st.one_of(st.text(max_size=120), PROSE)


def bare(text: str) -> str:
    return "".join(text.split())


@settings(deadline=None)
@given(ANY_TEXT, st.integers(1, 30), st.integers(0, 29), st.sampled_from(SPLITS))
def test_chunks_cover_the_text_and_stay_in_bounds(text: str, max_tokens: int, overlap: int, split_on: SplitOn) -> None:
    """C2: nothing is lost, no chunk is over the limit, and no character that a reader sees is cut."""
    chunks = chunk(text, max_tokens, min(overlap, max_tokens - 1), split_on)
    for piece in chunks:
        assert piece in text
        assert piece.strip()
        clusters = regex.findall(r"\X", piece.strip())
        assert estimate_tokens(piece) <= max_tokens or len(clusters) == 1
    assert bool(chunks) == bool(text.strip())


@settings(deadline=None)
@given(ANY_TEXT, st.integers(1, 30), st.sampled_from(SPLITS))
def test_chunks_without_overlap_are_the_text(text: str, max_tokens: int, split_on: SplitOn) -> None:
    """C2: put together again they are the text, but for white space, and every border is one between graphemes."""
    chunks = chunk(text, max_tokens, 0, split_on)
    assert "".join(bare(piece) for piece in chunks) == bare(text)
    borders = {match.start() for match in regex.finditer(r"\X", text.strip())}
    at = 0
    for piece in chunks:
        at = text.strip().index(piece, at)
        assert at in borders
        at += len(piece)


@settings(deadline=None)
@given(st.lists(st.text("abcdefgh", min_size=1, max_size=9), min_size=1, max_size=80), st.integers(4, 20), st.data())
def test_the_overlap_is_bounded_and_of_whole_words(words: list[str], max_tokens: int, data: st.DataObject) -> None:
    """C2: a chunk repeats whole words of the one before, never more than `overlap` tokens of them."""
    overlap = data.draw(st.integers(0, max_tokens - 1))
    numbered = [f"{word}{index}" for index, word in enumerate(words)]
    chunks = [piece.split(" ") for piece in chunk(" ".join(numbered), max_tokens, overlap, "fixed")]
    for before, after in pairwise(chunks):
        repeated = [word for word in after if word in before]
        assert after[: len(repeated)] == repeated == before[len(before) - len(repeated) :]
        assert estimate_tokens(" ".join(repeated)) <= overlap
        assert len(after) > len(repeated)
    assert list(dict.fromkeys(word for piece in chunks for word in piece)) == numbered


@pytest.mark.parametrize("split_on", SPLITS)
def test_a_short_text_comes_back_as_it_is(split_on: SplitOn) -> None:
    """C2: what fits is one chunk."""
    text = "First.  Second\n\nthird  "
    assert chunk("\n " + text, split_on=split_on) == [text.rstrip()]


def test_sentences_stay_whole_and_are_repeated_whole() -> None:
    """C2: split by sentence, the overlap is the last sentence."""
    text = "Anna has two dogs. They are called Rex and Bo. Rex is ill today. The vet comes at five."
    assert chunk(text, max_tokens=14, overlap=7) == [
        "Anna has two dogs. They are called Rex and Bo.",
        "They are called Rex and Bo. Rex is ill today.",
        "Rex is ill today. The vet comes at five.",
    ]


def test_words_are_repeated_where_no_sentence_fits() -> None:
    """C2: the overlap never starts inside a word."""
    text = "Anna has two dogs. They are called Rex and Bo. Rex is ill today."
    assert chunk(text, max_tokens=12, overlap=2) == [
        "Anna has two dogs. They are called Rex and Bo.",
        "and Bo. Rex is ill today.",
    ]


def test_paragraphs_stay_whole() -> None:
    """C2: split by paragraph."""
    text = "One is short. So is this.\n\nTwo is short too. Yes.\n\nThree."
    assert chunk(text, max_tokens=8, overlap=0, split_on="paragraph") == [
        "One is short. So is this.",
        "Two is short too. Yes.\n\nThree.",
    ]


def test_fixed_fills_every_chunk() -> None:
    """C2: split at a fixed size, between words."""
    assert chunk("aaa bbb ccc ddd eee. fff", max_tokens=4, overlap=1, split_on="fixed") == [
        "aaa bbb ccc ddd",
        "ddd eee. fff",
    ]


def test_a_word_longer_than_a_chunk_is_cut_between_graphemes() -> None:
    family = "👩\u200d👩\u200d👧"
    assert chunk(family * 3, max_tokens=4, overlap=0) == [family] * 3
    assert chunk("e\u0301" * 8, max_tokens=1, overlap=0) == ["e\u0301" * 2] * 4


def test_scripts_without_spaces_are_cut_between_characters() -> None:
    chunks = chunk("日本語の文章です、とても長い", max_tokens=5, overlap=0)
    assert "".join(chunks) == "日本語の文章です、とても長い"
    assert not any(piece.startswith("、") for piece in chunks)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((0, 0, "sentence"), "max_tokens"),
        ((True, 0, "sentence"), "max_tokens"),
        ((2.5, 0, "sentence"), "max_tokens"),
        ((10, -1, "sentence"), "overlap"),
        ((10, 10, "sentence"), "overlap"),
        ((10, 2, "page"), "split_on"),
    ],
)
def test_a_wrong_measure_is_named(arguments: tuple[object, object, object], field: str) -> None:
    max_tokens, overlap, split_on = arguments
    with pytest.raises(InputError) as caught:
        chunk("text", cast("int", max_tokens), cast("int", overlap), cast("SplitOn", split_on))
    assert caught.value.field == field


@pytest.mark.parametrize(
    "text", ["🇩" * 100_000, "." * 300_000 + "x", "a" * 300_000, "Dr. " * 50_000], ids=["flags", "dots", "a", "titles"]
)
def test_hostile_texts_are_cut_to_the_end(text: str) -> None:
    chunks = chunk(text)
    assert text.rstrip().endswith(chunks[-1])
    assert max(map(estimate_tokens, chunks)) <= 200
