"""The reader of chats and dialogues in JSON and JSON Lines: told by a small set of key names, not by data set.

It takes OpenAI's `{"messages": [...]}`, bare lists of messages, a message a line, lists of conversations, objects of
conversations by id, `[speaker, text]` pairs, and the words that other tools use for the same things.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from byheart.importers.base import BadRecord, Conversation, Record, Turn, role_of
from byheart.importers.content import Fields, call, elements, fields, first, is_list, is_object, name_of, said
from byheart.importers.source import Item, Source

_TURNS = (
    "messages", "turns", "conversation", "conversations", "dialogue", "dialog", "original", "chat_messages",
    "meeting_transcripts", "utterances", "transcript", "log", "history", "chat",
)  # fmt: skip
_TEXT = ("content", "text", "utterance", "value", "body", "message")
_WHO = ("name", "speaker", "author", "sender", "from", "user", "nick", "username")
_TIME = ("timestamp", "created_at", "create_time", "time", "date", "datetime", "ts", "sent_at")
_MESSAGE_ID = ("id", "uuid", "message_id", "messageId", "dia_id", "turn_id")
_SESSION_ID = ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "chat_id")
_CONVERSATION_ID = (
    *_SESSION_ID, "id", "uuid", "dialogue_id", "dialog_id", "convo_id", "meeting_id", "sample_id",
)  # fmt: skip
_START = ("date", "started_at", "created_at", "create_time", "timestamp", "start_time", "time")
_TITLE = ("title", "name", "subject")
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation inside a JSON value: its own fields, its messages, and the key it stands under, if any."""

    record: Fields
    turns: list[object]
    key: str | None = None


def is_turn(value: object) -> bool:
    """Whether the value is one message: an object with a text and a speaker or role, or a pair of two strings."""
    if is_list(value):
        pair = elements(value)
        return len(pair) == 2 and all(isinstance(part, str) for part in pair)
    record = fields(value)
    has_text = any(name in record for name in (*_TEXT, "tool_calls", "function_call"))
    return has_text and any(name in record for name in ("role", *_WHO))


def find(value: object, key: str | None = None, depth: int = 0) -> Iterator[Found]:
    """The conversations inside a JSON value, at most four levels down."""
    record = fields(value)
    for name in _TURNS:
        turns = list(_flat(record.get(name)))
        if any(map(is_turn, turns[:20])):
            yield Found(record, turns, key)
            return
    listed = elements(value)
    if any(map(is_turn, listed[:20])):
        yield Found({}, listed, key)
    elif depth < _DEPTH:
        for name, inner in record.items():
            if is_object(inner) or is_list(inner):
                yield from find(inner, name if is_object(inner) else None, depth + 1)
        for inner in listed:
            yield from find(inner, None, depth + 1)


def _flat(value: object, depth: int = 0) -> Iterator[object]:
    """The messages of a list that may be nested (in batches, in exchanges)."""
    for element in elements(value):
        if is_list(element) and not is_turn(element) and depth < _DEPTH:
            yield from _flat(element, depth + 1)
        else:
            yield element


def is_chat(source: Source) -> bool:
    """Whether the first values are messages or hold conversations."""
    return any(is_turn(value) or next(find(value), None) for value in source.sample)


def read_chat(source: Source) -> Iterator[Record]:
    """An episode a conversation; loose messages make one for each session id they name, or one for the file."""
    loose: dict[str | None, Conversation] = {}
    openings: dict[str, int] = {}
    for item in source.items():
        if isinstance(item, BadRecord):
            yield item
            continue
        found = list(find(item.value))
        if is_turn(item.value) and not any(name in fields(item.value) for name in _TURNS[:2]):
            session = name_of(first(fields(item.value), _SESSION_ID))
            if session not in loose:
                loose[session] = _start(source, session, openings)
            yield from add_turn(loose[session], source, item)
        elif found:
            for one in found:
                yield from _conversation(source, item.line, one, openings)
        else:
            yield BadRecord(source.file, item.line, "holds no messages that byheart can tell")
    for conversation in loose.values():
        yield from conversation.close()


def _start(source: Source, session: str | None, openings: dict[str, int]) -> Conversation:
    return Conversation(source.file, "chat", source.name, session, openings=openings, fallback_time=source.modified)


def _conversation(source: Source, line: int, found: Found, openings: dict[str, int]) -> Iterator[Record]:
    title = first(found.record, _TITLE)
    conversation = Conversation(
        source.file,
        "chat",
        source.name,
        name_of(first(found.record, _CONVERSATION_ID)) or found.key,
        openings,
        first(found.record, _START),
        source.modified,
        {"title": title} if isinstance(title, str) else {},
    )
    for turn in found.turns:
        yield from add_turn(conversation, source, Item(line, turn))
    yield from conversation.close()


def add_turn(conversation: Conversation, source: Source, item: Item) -> Iterator[Record]:
    """Read one message and add what it says; a message that cannot be read is reported."""
    if not is_turn(item.value):
        yield BadRecord(source.file, item.line, "a message without a text, or without a speaker or role")
        return
    if is_list(item.value):
        speaker, text = map(str, elements(item.value))
        yield from conversation.add(Turn(text, speaker, _role(None, speaker), line=item.line))
        return
    record = fields(item.value)
    who = first(record, _WHO)
    role_word = name_of(record.get("role")) or name_of(fields(who).get("role"))
    speaker = name_of(who) or role_word
    turn = Turn(
        "", speaker, _role(role_word, speaker), first(record, _TIME), name_of(first(record, _MESSAGE_ID)), item.line
    )
    yield from add_said(conversation, turn, record, first(record, _TEXT))


def add_said(conversation: Conversation, turn: Turn, record: Fields, content: object) -> Iterator[Record]:
    """Add a turn for each thing that a message says, with its tool calls; all but the first get a numbered id."""
    try:
        texts = list(said(content))
    except (ValueError, RecursionError) as error:
        yield BadRecord(conversation.file, turn.line, f"a message that cannot be read: {error}")
        return
    calls = [fields(fields(entry).get("function", entry)) for entry in elements(record.get("tool_calls"))]
    calls += [made] if (made := fields(record.get("function_call"))) else []
    texts += [(call(made.get("name"), made.get("arguments")), True) for made in calls]
    for index, (text, by_tool) in enumerate(texts):
        identity = f"{turn.id}.{index}" if turn.id and index else turn.id
        speaker, role = ("tool", "tool") if by_tool else (turn.speaker, turn.role)
        yield from conversation.add(replace(turn, text=text, speaker=speaker, role=role, id=identity))


def _role(role_word: str | None, speaker: str | None) -> str | None:
    """The role: the file's own word for it; a speaker called SYSTEM is the one who answers the user."""
    if role_word:
        return role_of(role_word)
    return "assistant" if speaker and speaker.lower() == "system" else role_of(speaker)
