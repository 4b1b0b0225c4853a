"""From the current message to the strings that are searched for (P7)."""

from byheart.text.analyzer import analyze
from byheart.text.sentences import sentences

#: How many sentences of a long message are searched for by themselves: each costs a forward pass of about 3 ms.
MOST_SENTENCES = 4


def content_words(message: str) -> str:
    """The words of a message that are no function words, as it writes them, each once."""
    found = {message[token.start : token.end]: None for token in analyze(message) if not token.stop}
    return " ".join(found)


def formulate(query: str) -> tuple[str, ...]:
    """The strings that a recall searches for: the message, its content words, and its sentences if it has several.

    Args:
        query: the message as it came.

    Returns:
        Distinct strings; the first is the message itself.
    """
    message = query.strip() or query
    parts = [message[span.start : span.end] for span in sentences(message)]
    several = parts[:MOST_SENTENCES] if len(parts) > 1 else []
    words = content_words(message)
    return tuple(dict.fromkeys(text for text in (message, words, *several) if text))
