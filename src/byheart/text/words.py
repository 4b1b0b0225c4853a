"""From a text to its words, and from a word to its index terms.

Words are those of UAX #29, except that a colon or a semicolon always separates (`user:anna`, `12:30`), superscripts and
circled digits belong to their word (`H₂O`), and a run of a script that is written without spaces stays one piece here,
to be cut into characters and pairs of characters.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import regex

from byheart.text.language import LATIN, script_language
from byheart.text.normal import CLUSTER, folded, normalised
from byheart.text.stems import stem
from byheart.text.stopwords import UNSPACED_STOPS, stop_words

MAX_TERM = 256  # characters; what is longer is indexed by its beginning
_MAX_PARTS = 8  # a word of more parts than that is a key or a hash, whose parts mean nothing

#: Single letters may be followed by `#`, words by `++`: C#, F#, C++, Notepad++.
_SIGNS = r"(?:(?:(?<=(?<![A-Za-z0-9_])[A-Za-z])#|(?<=[A-Za-z])\+\+)(?![+#]))?"
# The group is not possessive: Python before 3.11.5 matches a possessive group with a look-behind in it wrongly.
ASCII_WORD = re.compile(
    r"[A-Za-z0-9_]++(?:(?:(?<=[A-Za-z])['.](?=[A-Za-z])|(?<=[0-9])['.,](?=[0-9]))[A-Za-z0-9_]++)*" + _SIGNS
)
_UNSPACED = {
    "han": r"[\p{Han}〆]",
    "hangul": r"\p{Hangul}",
    "hiragana": r"[\p{Hiragana}ー\u3099\u309A]",
    "katakana": r"[\p{Katakana}ー\u3099\u309A\uFF70\uFF9E\uFF9F]",
    "southeast": r"[[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]--\p{Nd}]",
}
_RUNS = "|".join(rf"(?P<{name}>{letters}[{letters}\p{{M}}\u200B-\u200D]*+)" for name, letters in _UNSPACED.items())
_LETTER = r"[[\p{WB=ALetter}\p{WB=Hebrew_Letter}]--[\p{Hangul}〆ー]]"
_EXTEND = r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]"
_NUMBER = r"[\p{WB=Numeric}\p{No}]"
_WORD = (
    rf"(?P<word>[{_LETTER}{_NUMBER}\p{{WB=ExtendNumLet}}][{_LETTER}{_NUMBER}\p{{WB=ExtendNumLet}}{_EXTEND}]*+"
    rf"(?:(?:(?<={_LETTER}{_EXTEND}*)[\'’‘＇.․．·‧\u0387](?={_LETTER})"
    rf"|(?<=\p{{WB=Hebrew_Letter}}{_EXTEND}*)[\"״](?=\p{{WB=Hebrew_Letter}})"
    rf"|(?<={_NUMBER}{_EXTEND}*)[\'’.,٫٬．，](?={_NUMBER}))"
    rf"[{_LETTER}{_NUMBER}\p{{WB=ExtendNumLet}}{_EXTEND}]*+)*+{_SIGNS})"
)
_SYMBOL = r"(?P<symbol>\p{Regional_Indicator}{2}|\p{Extended_Pictographic})"
ANY_WORD = regex.compile(rf"{_RUNS}|{_WORD}|{_SYMBOL}", regex.V1)
_CLUSTER = regex.compile(CLUSTER)

#: An e-mail address, or two words joined by one hyphen: one more term beside those of their words.
_ADDRESS = regex.compile(r"(?<![\w.+-])\w[\w.+-]*+@[\w-]++(?:\.[\w-]++)+")
_HYPHENATED = regex.compile(r"(?<![\w\p{M}-])([\p{L}\p{M}]++)[-‐‑]([\p{L}\p{M}]++)(?![\w\p{M}-])")

_PART = regex.compile(
    r"\p{N}+(?:[.,'’٫٬．，]\p{N}+)*"
    r"|(?:\p{Lu}\p{M}*+)+(?!\p{Ll})"
    r"|(?:\p{Lu}\p{M}*+)?(?:[\p{Ll}\p{Lt}\p{Lm}\p{Lo}\p{Nl}][\p{M}\p{Cf}]*)+"
    r"|\p{Lu}\p{M}*+"
)
_THOUSANDS = regex.compile(r"[0-9]{1,3}(?:[,'][0-9]{3})+(?:\.[0-9]+)?")
_ELISION = regex.compile(
    r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|un|gl|dell|all|nell|sull|dall|coll|quell|quest|sant)['’‘＇](?=\p{L})",
    regex.IGNORECASE,
)
_CLITIC = regex.compile(r"(?<=.)['’‘＇](?:s|ll|ve|re|d|m)$", regex.IGNORECASE)
_APOSTROPHES = "'’‘＇\"״·‧"
_WITHOUT_SIGNS = str.maketrans("", "", _APOSTROPHES)
_NAMES_LIKE_STOPS = frozenset({"US", "IT", "WHO"})


class Piece(NamedTuple):
    """One term of a word: characters `start` to `end` of the word, `position` words after its first."""

    term: str
    start: int
    end: int
    position: int
    stop: bool


def _latin_terms(word: str, plain: str, language: str) -> list[str]:
    """The English stem, which a query shares whatever it was taken for, then that of the text's own language."""
    terms = [stem(plain, "english")]
    if language != "english":
        own = folded(stem(word, language))
        if own != terms[0]:
            terms.append(own)
    return terms


def _stemmed(text: str, language: str) -> tuple[list[str], bool]:
    """The terms of one plain word, and whether it is a function word."""
    word = normalised(text).translate(_WITHOUT_SIGNS)
    plain = folded(word)[:MAX_TERM]
    latin = plain.isascii() or LATIN.match(plain) is not None
    own = language if latin else script_language(plain)
    stop = word in stop_words(own) and text not in _NAMES_LIKE_STOPS
    if not plain or not latin:
        return [stem(plain, own)] if plain else [], stop
    return _latin_terms(word[:MAX_TERM], plain, language) if plain.isalpha() else [plain], stop


def _number_or_name(body: str) -> str:
    """A normalised word with digits or signs in it, as one term."""
    plain = folded(body)
    if _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "").replace("'", "")
    return plain[:MAX_TERM]


def _parts(word: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the parts of a compound identifier lie; none if it is a plain word, or one whose parts mean nothing."""
    if any(sign in word for sign in _APOSTROPHES):
        return []
    spans = [match.span() for match in _PART.finditer(word, start, end)]
    if not 1 < len(spans) <= _MAX_PARTS:
        return []
    return [span for span in spans if len(spans) == 2 or len(normalised(word[slice(*span)])) > 1]


def _trimmed(word: str) -> tuple[int, int]:
    """The word without an elided article before it, a clitic or possessive after it, and outer underscores."""
    elided = _ELISION.match(word)
    start = elided.end() if elided else 0
    clitic = _CLITIC.search(word, start)
    end = clitic.start() if clitic else len(word)
    while start < end and word[start] == "_":
        start += 1
    while start < end and word[end - 1] == "_":
        end -= 1
    return start, end


def word_pieces(word: str, language: str) -> tuple[tuple[Piece, ...], int]:
    """The terms of one spaced word, and how many positions it takes.

    A compound (`foo_bar`, `AgentMemory`, `node.js`, `v1.2.3`) gives itself and its parts.

    Args:
        word: a match of `ASCII_WORD`, or of the `word` group of `ANY_WORD`.
        language: what the text's Latin words are stemmed as.
    """
    start, end = _trimmed(word)
    body = normalised(word[start:end])
    letters = body.split(".")
    if len(letters) > 1 and all(len(letter) == 1 and letter.isalpha() for letter in letters):
        return (Piece(folded("".join(letters))[:MAX_TERM], start, end, 0, stop=False),), 1  # U.S. is us, but no pronoun
    parts = _parts(word, start, end)
    if any(sign in body for sign in "_.,+#") or any(map(str.isnumeric, body)):
        terms, stop = [_number_or_name(body)], False
    else:
        terms, stop = _stemmed(word[start:end], language)
    pieces = [Piece(term, start, end, 0, stop) for term in terms if term]
    for position, (left, right) in enumerate(parts):
        part_terms, stop = _stemmed(word[left:right], language)
        pieces.extend(Piece(term, left, right, position, stop) for term in part_terms)
    return tuple(pieces), max(1, len(parts))


@lru_cache(maxsize=16_384)
def _folded_units(cluster: str) -> tuple[str, ...]:
    """What a character of a run becomes: itself, or several (`㌔` is `キロ`), or nothing."""
    return tuple(_CLUSTER.findall(folded(normalised(cluster))))


def _units(run: str) -> list[tuple[str, int, int]]:
    """The characters of a run as a reader counts them, folded, each with its place in the run."""
    return [
        (unit, cluster.start(), cluster.end())
        for cluster in _CLUSTER.finditer(run)
        for unit in _folded_units(cluster.group())
    ]


def run_pieces(run: str, kind: str) -> tuple[tuple[Piece, ...], int]:
    """The terms of a run without spaces: every pair of neighbours; of Han, and where there is but one, single ones.

    Args:
        run: a match of one of the other groups of `ANY_WORD`.
        kind: the group's name.
    """
    units = _units(run)
    pieces: list[Piece] = []
    for position, (unit, start, end) in enumerate(units):
        if len(units) == 1 or kind in {"han", "symbol"}:
            stop = unit in UNSPACED_STOPS or (kind == "hiragana" and len(units) == 1)
            pieces.append(Piece(unit, start, end, position, stop))
        if position + 1 < len(units) and kind != "symbol":
            following, _, until = units[position + 1]
            pieces.append(Piece(unit + following, start, until, position, unit + following in UNSPACED_STOPS))
    return tuple(pieces), max(1, len(units))


def joined_words(text: str) -> dict[int, tuple[int, str]]:
    """E-mail addresses, and pairs of words with a hyphen (`Wi-Fi` is also `wifi`): start -> (end, term)."""
    found: dict[int, tuple[int, str]] = {}
    if "-" in text or "‐" in text or "‑" in text:
        for match in _HYPHENATED.finditer(text):
            terms, _ = _stemmed(match.group(1) + match.group(2), "english")
            found.update({match.start(): (match.end(), term) for term in terms})
    if "@" in text:
        for match in _ADDRESS.finditer(text):
            found[match.start()] = (match.end(), folded(normalised(match.group()))[:MAX_TERM])
    return found
