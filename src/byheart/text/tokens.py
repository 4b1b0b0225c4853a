"""How many tokens a language model would make of a text, roughly and at once."""

import regex

#: Scripts and signs of which tokenizers make about one token a character.
WIDE = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Emoji_Presentation}"
    r"\u3000-\u303F\uFF00-\uFFEF]"
)


def quarters(length: int, wide: int) -> int:
    """The size of a text in quarter tokens, which add up where tokens do not.

    Args:
        length: its characters.
        wide: how many of them are `WIDE`.
    """
    return length + 3 * wide


def estimate_tokens(text: str) -> int:
    """About how many tokens the text is: 4 characters a token, in scripts of wide characters 1, rounded up.

    Source: the usual rule of thumb for English BPE vocabularies; for text of Latin letters exactly `ceil(len / 4)`.
    """
    wide = 0 if text.isascii() else len(WIDE.findall(text))
    return -(-quarters(len(text), wide) // 4)
