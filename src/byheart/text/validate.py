"""What a text and a tag must be before anything is stored."""

import re

from byheart.errors import InputError

_SURROGATE = re.compile(r"[\uD800-\uDFFF]")
MAX_TEXT_BYTES = 1_048_576
MAX_TAG_CHARACTERS = 256


def _well_formed(field: str, value: object, what: str) -> str:
    """`value` if it is a string with something in it that every store can keep."""
    if not isinstance(value, str):
        raise InputError(field, f"is {type(value).__name__}, not a string", f"pass {what} of at least one character")
    if not value.strip():
        problem = "holds white space only" if value else "is empty"
        raise InputError(field, problem, f"pass {what} of at least one character")
    nul = value.find("\0")
    if nul >= 0:
        raise InputError(field, f"holds a NUL at character {nul}", "remove it")
    surrogate = _SURROGATE.search(value)
    if surrogate:
        raise InputError(
            field,
            f"holds a lone surrogate (U+{ord(surrogate.group()):04X}) at character {surrogate.start()}",
            'decode the bytes as UTF-8, or drop it with text.encode("utf-8", "ignore").decode()',
        )
    return value


def checked_text(field: str, text: object, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Return the text if it may be stored: well-formed Unicode with something in it, unchanged.

    Args:
        field: what the caller names the argument, for the message.
        text: any value.
        max_bytes: the limit in UTF-8.

    Raises:
        InputError: it is no string, empty, white space, too long, or holds a NUL or a lone surrogate.
    """
    checked = _well_formed(field, text, "a text")
    size = len(checked) if checked.isascii() else len(checked.encode())
    if size > max_bytes:
        raise InputError(field, f"has {size:,} bytes", f"split it into texts of at most {max_bytes:,} bytes")
    return checked


def checked_tag(field: str, tag: object) -> str:
    """Return the tag if it may be stored: 1 to 256 characters of any script, unchanged.

    Args:
        field: what the caller names the argument, with the index (`tags[2]`).
        tag: any value.

    Raises:
        InputError: it is no string, empty, white space, too long, or holds a NUL or a lone surrogate.
    """
    checked = _well_formed(field, tag, "a tag")
    if len(checked) > MAX_TAG_CHARACTERS:
        raise InputError(field, f"has {len(checked)} characters", f"use at most {MAX_TAG_CHARACTERS}")
    return checked
