"""Sentences and paragraphs of any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byheart.text.sentences import Span, paragraphs, sentences

PROSE = st.text(alphabet="aB1 .!?…\"'”)。」！\n\r-*I\u0301\u200d🏽。\u2029U.S", max_size=60)
ANY_TEXT = st.one_of(st.text(max_size=60), PROSE)


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def covers(text: str, spans: list[Span]) -> bool:
    """Whether the spans are in order, apart, trimmed, and hold everything but white space."""
    rest, last = list(text), 0
    for start, end in spans:
        if not last <= start < end <= len(text) or text[start:end] != text[start:end].strip():
            return False
        rest[start:end] = " " * (end - start)
        last = end
    return not "".join(rest).strip()


@given(ANY_TEXT)
def test_sentences_cover_the_text(text: str) -> None:
    assert covers(text, sentences(text))


@given(ANY_TEXT)
def test_paragraphs_cover_the_text(text: str) -> None:
    assert covers(text, paragraphs(text))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. Smith met Mrs. Jones. They talked.", 2),
        ("He earns $3.5 million. She earns more.", 2),
        ("Use a tool, e.g. a hammer, i.e. something heavy. Then stop.", 2),
        ("She lives in the U.S. Her brother does not.", 2),
        ("The U.S. Government said no.", 1),
        ("We met at 5 p.m. on Friday. It rained.", 2),
        ("Meet at 5 p.m. The door is open.", 2),
        ("J. R. R. Tolkien wrote it. I read it.", 2),
        ("It was Vitamin I. We laughed.", 2),
        ("i like tea. you like coffee. ok", 3),
        ("Well... maybe not. Fine…", 2),
        ("Wait... What?! No way!!!", 3),
        ('"Really?" he asked. "Yes." She left.', 3),
        ("(He was late.) She was not.", 2),
        ("今日は晴れです。明日は雨！本当？", 3),
        ("「はい。」と彼は言った。", 2),
        ("他来了。她走了。", 2),
        ("Как дела? Хорошо. А у тебя?", 3),
        ("كيف حالك؟ أنا بخير.", 2),
        ("मैं घर जाता हूँ। तुम कहाँ हो?", 2),
        ("Shopping:\n- milk\n- bread\n1. Call Anna\n2. Sleep", 5),
        ("1. First thing to do\n2. Second thing", 2),
        ("a line that\nis wrapped. Next one", 2),
        ("A title\nThe text below it.", 2),
        ("one\n\ntwo", 2),
        ("one\r\n\r\ntwo", 2),
        ("See node.js and v1.2.3 at x.org. Done", 2),
        ("Acme Inc. reported gains. The end.", 2),
        ("", 0),
        (" \n ", 0),
        ("word", 1),
    ],
)
def test_where_sentences_end(text: str, count: int) -> None:
    assert len(cut(text)) == count, cut(text)


def test_a_sentence_keeps_its_own_marks() -> None:
    assert cut('He said "Go!" Then he left.  (Why?) Nobody knows…') == [
        'He said "Go!"',
        "Then he left.",
        "(Why?)",
        "Nobody knows…",
    ]


def test_blank_lines_part_paragraphs() -> None:
    text = "one\nstill one\n \t\n\n two\r\n\r\nthree\u2029four"
    assert [text[start:end] for start, end in paragraphs(text)] == ["one\nstill one", "two", "three", "four"]


@pytest.mark.parametrize(
    "text",
    [
        "." * 1_000_000 + "x",
        '."' * 500_000,
        "a." + " " * 1_000_000 + "x",
        "\n " * 500_000 + "x",
        "Dr. " * 250_000,
        "a" * 1_000_000,
    ],
    ids=["dots", "quotes", "spaces", "lines", "titles", "a"],
)
def test_hostile_texts_are_read_to_the_end(text: str) -> None:
    """No pattern tries a text again and again; this would not come back in a day if one did."""
    assert sentences(text)[-1].end == len(text.rstrip())
    assert paragraphs(text)[-1].end == len(text.rstrip())
