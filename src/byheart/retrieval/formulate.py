"""From the current message to the strings that are searched for (P7)."""

from dataclasses import dataclass

from byheart.text.analyzer import analyze
from byheart.text.sentences import sentences

#: How many of a message's first, and of its last, sentences are searched for by themselves: each costs a forward pass
#: of about 3 ms. A long message often asks at its end.
MOST_SENTENCES = 2
#: How many characters of a message are searched for by their words, and how many of a string are embedded. A message
#: may be as long as a text; what it is about shows in its first pages, and a search must not take seconds.
MOST_SEARCHED = 32_768
MOST_EMBEDDED = 2_000


@dataclass(frozen=True, slots=True)
class Queries:
    """What a message is searched for as.

    Attributes:
        message: as it came, without the space around it.
        words: its content words; what the term search gets.
        sentences: each by itself, where it has several.
    """

    message: str
    words: str
    sentences: tuple[str, ...]

    @property
    def strings(self) -> tuple[str, ...]:
        """All of them, each once, the message first."""
        return tuple(dict.fromkeys(text for text in (self.message, self.words, *self.sentences) if text))

    @property
    def embedded(self) -> tuple[str, ...]:
        """Those that the vector search gets, the message first; its bare words would find the same once more.

        Each is cut to `MOST_EMBEDDED` characters.
        """
        return tuple(dict.fromkeys(text[:MOST_EMBEDDED] for text in (self.message, *self.sentences)))


def content_words(message: str) -> str:
    """The words of a message that are no function words, as it writes them, each once."""
    found = {message[token.start : token.end]: None for token in analyze(message) if not token.stop}
    return " ".join(found)


def formulate(query: str) -> Queries:
    """The query strings of one message: itself, its content words, and its sentences if it has several (P7).

    Args:
        query: the message as it came; its first 32,768 characters are used.
    """
    message = (query.strip() or query)[:MOST_SEARCHED]
    spans = sentences(message)
    chosen = spans if len(spans) <= 2 * MOST_SENTENCES else (*spans[:MOST_SENTENCES], *spans[-MOST_SENTENCES:])
    parts = tuple(message[span.start : span.end] for span in chosen)
    return Queries(message, content_words(message), parts if len(parts) > 1 else ())
