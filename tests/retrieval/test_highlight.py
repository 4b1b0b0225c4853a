from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from byheart.retrieval.document import document_terms, indexed_text
from byheart.retrieval.formulate import MOST_SENTENCES, formulate
from byheart.retrieval.highlight import PASSAGE_CHARACTERS, highlights, matched_terms

texts = st.text(max_size=300) | st.lists(
    st.sampled_from(["Dogs", "barked.", "at", "night!", "**", "naïve", "東京"])
).map(" ".join)


def test_matched_words_stand_between_stars_and_keep_the_texts_form() -> None:
    """C2: highlights mark the words of the query, inflected as the text has them."""
    text = "Nothing here. We were hiking near Denver. The hikes were long."
    assert highlights("hike in Denver", text) == ("We were **hiking** near **Denver**.", "The **hikes** were long.")
    assert matched_terms("hike in Denver", text) == ("hike", "Denver")


def test_a_text_without_matches_shows_its_beginning() -> None:
    """C2: a hit by meaning alone has a highlight too."""
    assert highlights("zebra", "First sentence. Second one.") == ("First sentence.",)
    assert matched_terms("zebra", "First sentence.") == ()
    assert highlights("zebra", "   ") == ()


def test_a_long_sentence_is_cut_around_its_first_match() -> None:
    text = "word " * 100 + "needle " + "word " * 100
    [found] = highlights("needle", text)
    assert "**needle**" in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert len(found) <= PASSAGE_CHARACTERS + 10


@given(texts, texts, st.integers(0, 3))
def test_a_highlight_without_its_marks_is_part_of_the_text(query: str, text: str, n: int) -> None:
    found = highlights(query, text, n)
    assert len(found) <= n
    for passage in found:
        if "**" not in text and "…" not in text:
            assert passage.replace("**", "").strip("…") in text


@given(texts, texts)
def test_matched_terms_are_words_of_the_query(query: str, text: str) -> None:
    assert all(word in query for word in matched_terms(query, text))


@given(texts)
def test_the_message_comes_first_and_nothing_twice(message: str) -> None:
    """P7: several query strings from one message; the raw message leads."""
    queries = formulate(message)
    for strings in (queries.strings, queries.embedded):
        assert len(set(strings)) == len(strings)
        if message.strip():
            assert strings[0] == message.strip()
    assert len(queries.strings) <= 2 + 2 * MOST_SENTENCES


def test_a_message_of_several_sentences_is_taken_apart() -> None:
    """P7: the message, its content words, its sentences."""
    assert formulate("I am late. Where did I park the car?").strings == (
        "I am late. Where did I park the car?",
        "late park car",
        "I am late.",
        "Where did I park the car?",
    )
    assert formulate("Where is the car?").embedded == ("Where is the car?",)


def test_who_and_when_are_part_of_what_is_indexed() -> None:
    when = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert indexed_text("I ran.", speaker="Ann") == "Ann: I ran."
    assert indexed_text("I ran.", speaker=None) == "I ran."
    terms = document_terms("I ran and ran.", speaker="Ann", timestamp=when)
    assert terms["ran"] == 2
    assert {"ann", "may", "2023"} <= set(terms)
