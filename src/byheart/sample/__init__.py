"""The sample conversation: ten invented months of Mara and Pell, her assistant, and eight questions about them.

Data only, to try a memory on before there is data of one's own: facts that change, a correction, promises, dates, and
one session each in Japanese and in Spanish. Every person, place of work and event in it is made up.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Literal, TypedDict, cast

from byheart.types import Message

__all__ = ["SampleConversation", "SampleQuestion", "SampleSession", "load_conversation", "load_questions"]


class _Turn(TypedDict):
    speaker: str
    role: Literal["user", "assistant"]
    text: str
    minutes: int  # since the session's date


class _Session(TypedDict):
    id: str
    date: str
    language: Literal["en", "ja", "es"]
    turns: list[_Turn]


class _Conversation(TypedDict):
    title: str
    sessions: list[_Session]


class _Question(TypedDict):
    question: str
    about: str
    expect: str


@dataclass(frozen=True, slots=True)
class SampleSession:
    """One sitting of the conversation.

    Args:
        id: its date as text, such as `2025-01-08`; no two sessions share a day.
        date: when its first turn was said, aware UTC.
        language: the language that all its turns are in.
        messages: its turns in order, each with its speaker as `name` and its own time.
    """

    id: str
    date: datetime
    language: Literal["en", "ja", "es"]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class SampleConversation:
    """The whole conversation: a title, and its sessions, oldest first."""

    title: str
    sessions: tuple[SampleSession, ...]


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question that the conversation answers.

    Args:
        question: what to recall, in the user's own words.
        about: what kind of finding it tries, as a short label.
        expect: a piece of text that the answering turn holds and no other turn does.
    """

    question: str
    about: str
    expect: str


def load_conversation() -> SampleConversation:
    """Read the sample conversation, with every turn as the message that an application would hand over."""
    read = cast("_Conversation", _read("conversation.json"))
    return SampleConversation(read["title"], tuple(_session(session) for session in read["sessions"]))


def load_questions() -> tuple[SampleQuestion, ...]:
    """Read the eight questions, in the order in which a demo asks them."""
    read = cast("list[_Question]", _read("questions.json"))
    return tuple(SampleQuestion(item["question"], item["about"], item["expect"]) for item in read)


def _read(name: str) -> object:
    return json.loads(files(__name__).joinpath(name).read_text(encoding="utf-8"))


def _session(read: _Session) -> SampleSession:
    date = datetime.fromisoformat(read["date"])
    messages = tuple(
        Message(turn["role"], turn["text"], name=turn["speaker"], timestamp=date + timedelta(minutes=turn["minutes"]))
        for turn in read["turns"]
    )
    return SampleSession(read["id"], date, read["language"], messages)
