"""The analyzer: every script, every spelling, offsets into the original text (N9)."""

import threading
import unicodedata
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from byheart.text.analyzer import Token, analyze, count_terms, detect_language
from byheart.text.words import ANY_WORD, ASCII_WORD

#: Characters that words are made of and break at, so that generated texts are more than noise.
TRICKY = st.text(
    alphabet=st.sampled_from(
        "aAqQéÉßıİ\u0301\u0308\u0327ñœ01٢२_'’.,:;-@#+&/ \t\n\u00ad\u200b\u200d\ufe0fяйёЁάςשּׁשלאل\u064bأकि\u094d\u093c"
        "日本猫々〆がか\u3099ガｶﾞーﾗ한글\u1112\u1161\u11abไทกำແ\u0eb2ក\u17d2ខကျ🎉👍🏽🇩🇪①½²㌔ﬁＡ１\ud800\x00"
    ),
    max_size=40,
)
ANY_TEXT = st.one_of(st.text(max_size=60), TRICKY)


def found(query: str, text: str) -> bool:
    """Whether a person who types `query` gets `text`: each content word of the query is in it, by one of its terms."""
    terms = set(count_terms(text))
    words: dict[int, set[str]] = {}
    for token in analyze(query):
        if not token.stop:
            words.setdefault(token.position, set()).add(token.term)
    return bool(words) and all(word & terms for word in words.values())


def shares(query: str, text: str) -> bool:
    return bool(set(count_terms(query)) & set(count_terms(text)))


@pytest.mark.parametrize("letter", "aбאبกक日")
@pytest.mark.parametrize("marks", ["\u0302", "\u0302\u0323", "\u064b\u0651", "\u0e31", "\ufe0f", "\u00ad"])
def test_a_letter_under_countless_marks_is_one_short_word(letter: str, marks: str) -> None:
    """A time that grew with the square of the marks would take hours here."""
    tokens = analyze(letter + marks * (300_000 // len(marks)))
    assert tokens
    assert all(len(token.term) <= 1024 for token in tokens)


@given(ANY_TEXT)
@example("a\ud800b\x00c")
@example("㌔a𝟘")
def test_offsets_slice_into_the_original_in_order(text: str) -> None:
    """N9: whatever the text, tokens name a non-empty stretch of it and come in the order of its words."""
    tokens = analyze(text)
    assert all(0 <= token.start < token.end <= len(text) for token in tokens)
    assert all(token.term for token in tokens)
    assert all(first.start <= second.start and first.position <= second.position for first, second in pairwise(tokens))


@given(ANY_TEXT)
def test_terms_do_not_depend_on_how_the_text_is_composed(text: str) -> None:
    """N9: a text and its canonical compositions (NFC, NFD) have the same terms at the same positions."""
    composed, decomposed = (
        [(token.term, token.position, token.stop) for token in analyze(unicodedata.normalize(form, text))]
        for form in ("NFC", "NFD")
    )
    assert composed == decomposed


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_plain_ascii_takes_the_same_words_on_both_paths(text: str) -> None:
    fast = [match.span() for match in ASCII_WORD.finditer(text)]
    assert fast == [match.span() for match in ANY_WORD.finditer(text)]


@given(st.text(alphabet="abzAZ019_'., -/()\n!?", max_size=60))
def test_words_are_those_of_uax_29(text: str) -> None:
    """N9: the words are those that UAX #29 finds, as the `regex` package implements it."""
    expected = [word for word in regex.split(r"(?w)\b", text, flags=regex.V1) if regex.search(r"[\w]", word)]
    assert [match.group() for match in ASCII_WORD.finditer(text)] == expected


@given(ANY_TEXT)
def test_counts_are_those_of_the_tokens(text: str) -> None:
    tokens = analyze(text)
    counts = count_terms(text)
    kept = [token for token in tokens if not token.stop] or tokens
    assert sum(counts.values()) == len(kept)
    assert set(counts) == {token.term for token in kept}


@given(TRICKY, TRICKY)
def test_a_part_of_a_text_is_found_in_the_whole(first: str, second: str) -> None:
    """N9: a query that is a piece of the text finds it: the terms of both do not depend on their surroundings."""
    assert set(count_terms(first)) <= {token.term for token in analyze(f"{first} \n{second}")}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running shoe", "She bought new shoes for her daily runs"),
        ("ANNA", "Anna's sister doesn't live here"),
        ("resume cafe", "Her résumé was left in the Café"),
        ("perro", "A mis hijos les encantan los perros de la vecina"),
        ("¿Dónde está el perro?", "Los perros están en el jardín"),
        ("informacion", "Hay más información en la oficina"),
        ("información", "las informaciones que no llegaron"),
        ("corriendo en el parque", "ella corre por el parque con su perro"),
        ("Hund", "Die Hunde sind im Garten und schlafen"),
        ("strasse", "Die Straße ist nicht lang"),
        ("Wo ist das Haus", "Die Häuser sind groß und nicht alt"),
        ("cheval", "Les chevaux ne sont pas dans le pré, mais un cheval dort"),
        ("été", "Pendant l’été nous sommes à la mer"),
        ("ecole", "Les enfants vont à l'école"),
        ("amiche", "le mie amiche non sono qui, ma un'amica è arrivata"),
        ("собака", "Мои собаки бегут по улице"),
        ("елка", "На площади стоит ёлка"),
        ("猫", "私は猫が好きです"),
        ("東京", "来週東京に行きます"),
        ("ラーメン", "昨日ﾗｰﾒﾝを食べた"),
        ("がっこう", "がっこうへ行く"),
        ("猫", "我喜欢猫和狗"),
        ("北京大学", "她在北京大学学习"),
        ("도쿄", "지난주에 도쿄에서 친구를 만났다"),
        ("แมว", "ฉันชอบแมวมาก"),
        ("น้ำ", "ดื่มน้ำเยอะๆ"),
        ("كتاب", "قرأت الكِتَابَ أمس"),
        ("احمد", "التقيت أحمد في المدرسة"),
        ("किताब", "मुझे किताबें पढ़ना पसंद है"),
        ("लड़का", "वहाँ तीन लड़के हैं"),
        ("σκυλος", "Οι σκύλοι μου κοιμούνται"),
        ("שלום", "אמרתי שָׁלוֹם לכולם"),
        ("istanbul", "İSTANBUL'da ve ISTANBUL"),
        ("2024", "السنة ٢٠٢٤"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("🎉", "party 🎉 tonight"),
        ("🇩🇪", "we moved to 🇩🇪"),
    ],
)
def test_a_query_finds_the_text_a_person_would_expect(query: str, text: str) -> None:
    """N9: every script works by default."""
    assert found(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("foo_bar", "call foo_bar() twice"),
        ("bar", "call foo_bar() twice"),
        ("agent memory", "class AgentMemory:"),
        ("agentmemory", "class AgentMemory:"),
        ("HTTP server", "class HTTPServer:"),
        ("1.2.3", "upgraded to v1.2.3"),
        ("v1.2.3", "upgraded to v1.2.3."),
        ("1000", "paid 1,000 dollars"),
        ("3 pm", "meet at 3pm"),
        ("3pm", "meet at 3pm"),
        ("C++", "He writes C++ and C#"),
        ("c#", "He writes C++ and C#"),
        ("anna@example.com", "Write to Anna@Example.com."),
        ("example.com", "Write to Anna@Example.com."),
        ("example.com", "see https://www.example.com/page"),
        ("node", "a Node.js service"),
        ("u.s.", "moved to the US"),
        ("US", "moved to the U.S. in May"),
        ("wifi", "the Wi-Fi password"),
        ("e-mail", "send an email"),
        ("h2o", "drink H₂O"),
        ("covid 19", "had covid19"),
        ("don't know", "I dont know"),
        ("to be or not to be", "To be, or not to be"),
    ],
)
def test_names_numbers_and_identifiers(query: str, text: str) -> None:
    assert shares(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("C++", "vitamin C"),
        ("C#", "plan C"),
        ("US", "they told us"),
        ("バス", "ハスの花"),
        ("가방", "나비"),
        ("मेल", "माला"),
        ("майка", "маика"),
    ],
)
def test_what_makes_another_word_is_kept(query: str, text: str) -> None:
    """N9: signs, Japanese voicing marks, Indic vowels and Cyrillic `й` are letters, not ornaments."""
    assert not ({token.term for token in analyze(query)} & set(count_terms(text)))


def test_a_token_says_where_and_what() -> None:
    text = "Anna’s naïve dog, in Zürich"
    assert analyze(text) == [
        Token("anna", 0, 4, 0, stop=False),
        Token("naiv", 7, 12, 1, stop=False),
        Token("dog", 13, 16, 2, stop=False),
        Token("in", 18, 20, 3, stop=True),
        Token("zurich", 21, 27, 4, stop=False),
    ]


def test_a_compound_takes_the_positions_of_its_parts() -> None:
    tokens = [(token.term, token.position) for token in analyze("the foo_bar runs")]
    assert tokens == [("the", 0), ("foo_bar", 1), ("foo", 1), ("bar", 2), ("run", 3)]


def test_offsets_reach_through_decomposed_text() -> None:
    text = unicodedata.normalize("NFD", "une école fermée")
    assert [text[token.start : token.end] for token in analyze(text)] == text.split(" ")


@pytest.mark.parametrize("text", ["", " \n", "...", "___", "\u200d", "\u0301", "'", "@ # -"])
def test_a_text_without_words_has_no_tokens(text: str) -> None:
    assert analyze(text) == []
    assert count_terms(text) == {}


def test_function_words_count_only_where_there_is_nothing_else() -> None:
    assert count_terms("the dog and the cat") == {"dog": 1, "cat": 1}
    assert count_terms("to be or not to be") == {"to": 2, "be": 2, "or": 1, "not": 1}


def test_a_hash_is_one_term() -> None:
    assert list(count_terms("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b")) == ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"]


def test_a_huge_word_gives_a_bounded_term() -> None:
    (token,) = analyze("x" * 100_000)
    assert len(token.term) <= 256
    assert (token.start, token.end) == (0, 100_000)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "a@" * 300_000,
        "a" * 500_000 + " @",
        "a-" * 300_000,
        "a." * 300_000,
        "é'" * 300_000,
        "🇩" * 300_000,
        "a" + "\u0301" * 300_000,
    ],
    ids=["a", "a@", "a @", "a-", "a.", "é'", "flags", "accents"],
)
def test_hostile_texts_are_read_to_the_end(text: str) -> None:
    """N9: no pattern tries a text again and again; this would not come back in a day if one did."""
    tokens = analyze(text)
    assert tokens
    assert tokens[-1].end <= len(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The dog is in the garden", "english"),
        ("dog", "english"),
        ("So the man on the plane was in a die-hard mood", "english"),
        ("Los perros están en el jardín", "spanish"),
        ("Die Hunde sind im Garten", "german"),
        ("Les chiens sont dans le jardin", "french"),
        ("I cani sono nel giardino della casa", "italian"),
        ("Os cachorros não estão no jardim", "portuguese"),
        ("De honden zijn niet in het huis", "dutch"),
        ("Hundarna är inte på gården och jag vet", "swedish"),
        ("Psy nie są w domu, ale kot jest", "polish"),
        ("Собаки в саду", "russian"),
        ("Οι σκύλοι είναι στον κήπο", "greek"),
        ("الكلاب في الحديقة", "arabic"),
        ("कुत्ते बगीचे में हैं", "hindi"),
        ("犬は庭にいます", ""),
        ("ฉันชอบแมว", ""),
        ("הכלבים בגינה", ""),
        ("12 + 30", ""),
        ("", ""),
    ],
)
def test_language_detection(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_many_threads_get_what_one_gets() -> None:
    """A Snowball stemmer is no more thread-safe than the buffer in it; the analyzer is."""
    texts = [
        f"running{letter} cantando nationalities{letter} los perros están en jardines" for letter in "abcdefgh"
    ] * 40
    expected = [count_terms(text) for text in texts]
    results: list[list[dict[str, int]]] = []

    def work() -> None:
        results.append([count_terms(text) for text in texts])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4
