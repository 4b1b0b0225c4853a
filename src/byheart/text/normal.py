"""One spelling for one word: Unicode compatibility, case and accent folding.

Folded: case (`ß` is `ss`), compatibility forms (full-width, ligatures), the accents of Latin and Greek, the stress
marks of Cyrillic and `ё`, the optional vowel points of Hebrew and Arabic, digits of every script, and what does not
show (soft hyphen, joiners). Kept, because they make another letter: Japanese voicing marks, Cyrillic `й` and `ї`, and
every mark of the Indic and South-East Asian scripts. Turkish: `İ`, `I`, `ı` and `i` are one letter here, since a memory
rarely knows which language a name is from.
"""

import unicodedata

import regex

#: A character as a reader counts it. Flags are paired here, since \X looks back over a whole row of them each time.
CLUSTER = r"(?:\p{RI}{2}[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]*+|\X)"

_LETTERS = str.maketrans({
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n",
    "ѐ": "е", "ѝ": "и", "ё": "е",
})  # fmt: skip
_MARKED = regex.compile(
    r"(?P<bare>[\p{Latin}\p{Greek}\p{Hebrew}])\p{Mn}++"  # accents and vowel points
    r"|(?P<cyrillic>\p{Cyrillic}\p{Mn}++)"
    r"|[\u0640\u064B-\u0652\u0670]++"  # Arabic vowel points and the stretching line
)
_STRESS: dict[int, None] = {0x300: None, 0x301: None}
_UNSEEN = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}]+")
#: No word is that long. Putting the marks of one letter in order takes a time that grows with their square.
_MOST_CHARACTERS = 1024
_DIGIT = regex.compile(r"[\p{Nd}--0-9]", regex.V1)
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "׳": "'", "״": '"'})


def _ascii_digit(match: "regex.Match[str]") -> str:
    return str(unicodedata.decimal(match.group(), match.group()))  # itself, if Python's Unicode is the older one


def _unmarked(match: "regex.Match[str]") -> str:
    """A letter without its marks; of a Cyrillic one the stress marks and the dots of `ё` go."""
    cyrillic: str | None = match["cyrillic"]
    if cyrillic:
        return cyrillic.replace("\u0435\u0308", "\u0435", 1).translate(_STRESS)
    return match["bare"] or ""


def normalised(word: str) -> str:
    """NFKC, case folded, digits in ASCII, apostrophes straight, nothing invisible; accents stay (Unicode, D146).

    Of a word of more than 1,024 characters, the first 1,024.
    """
    word = word[:_MOST_CHARACTERS]
    if word.isascii():
        return word.lower()
    word = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", word).casefold())
    word = unicodedata.normalize("NFKC", word.casefold())
    word = _UNSEEN.sub("", word.translate(_STRAIGHT))
    return unicodedata.normalize("NFC", _DIGIT.sub(_ascii_digit, word))


def folded(word: str) -> str:
    """A normalised word without its accents, for the scripts in which they are an ornament (see the module)."""
    if word.isascii():
        return word
    bare = _MARKED.sub(_unmarked, unicodedata.normalize("NFD", word.translate(_LETTERS)))
    return unicodedata.normalize("NFC", bare.translate(_LETTERS))
