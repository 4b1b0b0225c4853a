"""Which Snowball language a text is in: by its script, and for Latin letters by its function words.

Cheap on purpose and never decisive: every Latin word is indexed by its English stem as well, so a short query that is
taken for English still finds the Spanish text that holds its words.
"""

import re
import unicodedata
from collections import Counter
from functools import cache

import regex

from byheart.text.stopwords import stop_languages, stop_words

_SAMPLE = 4000  # characters that are looked at: a language shows in its first page
_WORDS = re.compile(r"[^\W\d_]{2,}")  # single letters are words of too many languages
#: Script -> Snowball language. What is missing here has no stemmer (Hebrew) or no spaces between its words (Thai, Han).
SCRIPTS = {
    "Cyrillic": "russian",
    "Greek": "greek",
    "Arabic": "arabic",
    "Devanagari": "hindi",
    "Armenian": "armenian",
    "Tamil": "tamil",
}
_SCRIPT_LETTERS = {name: regex.compile(rf"\p{{Script={name}}}") for name in SCRIPTS}
LATIN = regex.compile(r"\p{Latin}")
_OTHER = regex.compile(
    r"[\p{L}--[\p{Latin}\p{Cyrillic}\p{Greek}\p{Arabic}\p{Devanagari}\p{Armenian}\p{Tamil}]]", regex.V1
)


@cache
def _latin_languages() -> tuple[str, ...]:
    return tuple(name for name in stop_languages() if name not in SCRIPTS.values())


@cache
def _markers() -> dict[str, tuple[str, ...]]:
    """Function word -> the languages that have it."""
    found: dict[str, list[str]] = {}
    for language in _latin_languages():
        for word in stop_words(language):
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


@cache
def _foreign_markers() -> frozenset[str]:
    return frozenset(word for word, languages in _markers().items() if languages[0] != "english")


def latin_language(text: str) -> str:
    """The language of the text's Latin words: English, unless another has at least two function words, and more.

    Args:
        text: any text; the first 4,000 characters count.
    """
    sample = text[:_SAMPLE]
    if not sample.isascii():
        sample = unicodedata.normalize("NFC", sample)
    words = set(_WORDS.findall(sample.lower()))
    if words.isdisjoint(_foreign_markers()):
        return "english"
    markers = _markers()
    hits = Counter(language for word in words for language in markers.get(word, ()))
    best = max(_latin_languages(), key=lambda language: hits[language])  # the first of equals, so English before all
    return best if hits[best] >= 2 else "english"


def script_language(word: str) -> str:
    """The language of a word outside the Latin script by its first letter's script; "" if it has no stemmer."""
    for name, letters in _SCRIPT_LETTERS.items():
        if letters.match(word):
            return SCRIPTS[name]
    return ""


def detect_language(text: str) -> str:
    """The Snowball language that most of the text's letters belong to; "" for unspaced and unstemmed scripts.

    Args:
        text: any text; the first 4,000 characters count. One without any letter has no language ("").
    """
    sample = text[:_SAMPLE]
    counts = {SCRIPTS[name]: len(letters.findall(sample)) for name, letters in _SCRIPT_LETTERS.items()}
    counts["latin"] = len(LATIN.findall(sample))
    counts[""] = len(_OTHER.findall(sample))
    best = max(counts, key=lambda language: counts[language])
    if counts[best] == 0:
        return ""
    return latin_language(text) if best == "latin" else best
