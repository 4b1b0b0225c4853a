"""The sample conversation keeps what the demo and the guides promise of it."""

from datetime import UTC
from itertools import pairwise

import pytest
import regex

from byheart.sample import SampleQuestion, SampleSession, load_conversation, load_questions
from byheart.types import Message

CONVERSATION = load_conversation()
MESSAGES = [message for session in CONVERSATION.sessions for message in session.messages]


def in_language(language: str) -> list[SampleSession]:
    return [session for session in CONVERSATION.sessions if session.language == language]


def test_it_is_long_enough_to_search_in() -> None:
    assert CONVERSATION.title
    assert len(CONVERSATION.sessions) >= 22
    assert len(MESSAGES) >= 320
    assert (CONVERSATION.sessions[-1].date - CONVERSATION.sessions[0].date).days >= 280


def test_one_session_is_japanese_and_one_is_spanish() -> None:
    (japanese,) = in_language("ja")
    (spanish,) = in_language("es")
    assert all(regex.search(r"[\p{Hiragana}\p{Katakana}]", message.content) for message in japanese.messages)
    assert regex.search("[ñ¿¡áéíóú]", " ".join(message.content for message in spanish.messages))
    assert len(in_language("en")) == len(CONVERSATION.sessions) - 2


def test_sessions_are_named_by_their_day_and_never_overlap() -> None:
    for session in CONVERSATION.sessions:
        assert session.id == session.date.date().isoformat()
        assert session.date.tzinfo == UTC
    for earlier, later in pairwise(CONVERSATION.sessions):
        assert earlier.messages[-1].timestamp is not None
        assert earlier.messages[-1].timestamp < later.date


@pytest.mark.parametrize("session", CONVERSATION.sessions, ids=lambda session: session.id)
def test_turns_follow_each_other_from_the_session_start(session: SampleSession) -> None:
    times = [message.timestamp for message in session.messages if message.timestamp is not None]
    assert len(times) == len(session.messages)
    assert times[0] == session.date
    assert all(earlier < later for earlier, later in pairwise(times))


def test_every_turn_says_something_and_is_by_one_of_the_two() -> None:
    assert all(message.content == message.content.strip() and message.content for message in MESSAGES)
    assert {(message.name, message.role) for message in MESSAGES} == {("Mara", "user"), ("Pell", "assistant")}
    assert len({message.content for message in MESSAGES}) == len(MESSAGES)


def test_there_are_eight_different_questions() -> None:
    questions = load_questions()
    assert len(questions) == 8
    assert len({question.question for question in questions}) == 8
    assert len({question.about for question in questions}) == 8


@pytest.mark.parametrize("question", load_questions(), ids=lambda question: question.about)
def test_exactly_one_turn_holds_the_expected_text(question: SampleQuestion) -> None:
    assert len(answering(question)) == 1


def test_the_hard_questions_are_as_hard_as_their_labels_say() -> None:
    """One shares no word with its answer, and one is asked in English of a Spanish session."""
    by_label = {question.about: question for question in load_questions()}
    apart = by_label["no word in common with the answer"]
    (answer,) = answering(apart)
    assert not words(apart.question) & words(answer.content)
    (spanish,) = in_language("es")
    assert answering(by_label["asked in English, answered in Spanish"])[0] in spanish.messages


def answering(question: SampleQuestion) -> list[Message]:
    return [message for message in MESSAGES if question.expect in message.content]


def words(text: str) -> set[str]:
    return set(regex.findall(r"\w+", text.casefold()))
