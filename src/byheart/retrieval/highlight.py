"""What of a text answers a query: the query's words that it holds, and its best passages with those words marked."""

from collections.abc import Sequence

from byheart.text.analyzer import Token, analyze
from byheart.text.sentences import Span, sentences

#: A passage is cut to about so many characters around its first match.
PASSAGE_CHARACTERS = 240
MARK = "**"


def query_words(query: str) -> dict[str, str]:
    """The query's index terms, each with the first word of the query that it stands for; function words left out."""
    words: dict[str, str] = {}
    for token in analyze(query):
        if not token.stop:
            words.setdefault(token.term, query[token.start : token.end])
    return words


def matches(words: dict[str, str], text: str) -> list[Token]:
    """The tokens of a text whose term is one of the query's."""
    return [token for token in analyze(text) if token.term in words]


def matched_terms(query: str, text: str) -> tuple[str, ...]:
    """The words of the query that the text holds, as the query writes them, in the query's order."""
    words = query_words(query)
    held = {token.term for token in matches(words, text)}
    return tuple(dict.fromkeys(word for term, word in words.items() if term in held))


def highlights(query: str, text: str, n: int = 2) -> tuple[str, ...]:
    """The passages of a text that hold most of the query's words, in the text's order, matched words between `**`.

    A text that holds none of them gives its first passage, unmarked.

    Args:
        query: what was searched for.
        text: the memory's text.
        n: how many passages at most.
    """
    return marked_passages(matches(query_words(query), text), text, n)


def marked_passages(found: Sequence[Token], text: str, n: int) -> tuple[str, ...]:
    """`highlights`, for tokens that are found already."""
    spans = sentences(text)
    if not spans or n < 1:
        return ()
    held = [[token for token in found if span.start <= token.start and token.end <= span.end] for span in spans]
    kinds = [len({token.term for token in tokens}) for tokens in held]
    best = sorted(range(len(spans)), key=lambda place: -kinds[place])[:n]
    chosen = sorted(place for place in best if kinds[place]) or [0]
    return tuple(_marked(text, spans[place], held[place]) for place in chosen)


def _marked(text: str, span: Span, found: Sequence[Token]) -> str:
    """A sentence, cut around its first match where it is long, with its matches marked."""
    start, end = span
    if end - start > PASSAGE_CHARACTERS:
        focus = found[0].start if found else start
        start = max(start, min(focus - PASSAGE_CHARACTERS // 4, end - PASSAGE_CHARACTERS))
        end = min(end, start + PASSAGE_CHARACTERS)
    pieces: list[str] = []
    place = start
    for token in found:
        if token.start < place or token.end > end:
            continue
        pieces += [text[place : token.start], MARK, text[token.start : token.end], MARK]
        place = token.end
    pieces.append(text[place:end])
    return ("…" if start > span.start else "") + "".join(pieces) + ("…" if end < span.end else "")
