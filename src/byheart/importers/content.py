"""The contents of chat messages: plain strings, lists of typed parts, tool calls and their results."""

import json
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from byheart.importers.base import gist

Fields = Mapping[str, object]
_THINKING = {"thinking", "redacted_thinking", "reasoning", "thoughts", "reasoning_recap"}
_MEDIA = ("image", "audio", "video", "file", "document")


def is_object(value: object) -> TypeGuard[Fields]:
    """Whether it is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether it is a JSON list."""
    return isinstance(value, list)


def fields(value: object) -> Fields:
    """`value` if it is a JSON object, else an empty one."""
    return value if is_object(value) else {}


def elements(value: object) -> list[object]:
    """`value` if it is a JSON list, else an empty one."""
    return value if is_list(value) else []


def first(record: Fields, names: tuple[str, ...]) -> object:
    """The value under the first of `names` that the record has with something in it."""
    return next((record[name] for name in names if record.get(name) not in (None, "", [], {})), None)


def name_of(value: object) -> str | None:
    """A name or id as text: a string, a whole number, or an object's `name`, `role` or `id`; else None."""
    if is_object(value):
        return name_of(first(fields(value), ("name", "display_name", "username", "role", "id")))
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def said(content: object) -> Iterator[tuple[str, bool]]:
    """The texts of a message's content, each with whether a tool said it (calls and results, cut to their gist).

    Args:
        content: a string, a list of parts in OpenAI's, Anthropic's or ChatGPT's form, or one such part.

    Raises:
        ValueError: the content is neither text nor parts.
    """
    if isinstance(content, str):
        yield content, False
    elif is_object(content):
        yield from _part(fields(content))
    elif is_list(content):
        plain: list[str] = []
        for part in elements(content):
            for text, by_tool in said(part):
                if not by_tool:
                    plain.append(text)
                    continue
                if plain:
                    yield "\n".join(plain), False
                    plain = []
                yield text, True
        if plain:
            yield "\n".join(plain), False
    elif content is not None:
        raise ValueError(f"the content is {type(content).__name__}, not text or parts")


def call(name: object, arguments: object) -> str:
    """A tool call as one line: `name(arguments)`, the arguments cut to their gist."""
    if is_object(arguments):
        shown = ", ".join(f"{key}: {_plain(value)}" for key, value in fields(arguments).items())
    else:
        shown = _plain(arguments)
    return f"{name_of(name) or 'tool'}({gist(shown)})"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _part(part: Fields) -> Iterator[tuple[str, bool]]:
    kind = str(part.get("type") or part.get("content_type") or "")
    if kind in _THINKING:
        return
    if kind in {"tool_use", "server_tool_use", "function_call"}:
        yield call(part.get("name"), part.get("input", part.get("arguments"))), True
    elif kind.endswith(("tool_result", "function_call_output")):
        result = first(part, ("content", "output"))
        yield gist("\n".join(text for text, _ in said(result))), True
    elif isinstance(text := first(part, ("text", "result", "output_text", "refusal")), str):
        yield text, False
    elif "transcript" in part:
        yield str(part["transcript"]), False
    elif any(medium in kind for medium in _MEDIA):
        yield f"[{next(medium for medium in _MEDIA if medium in kind)}]", False
