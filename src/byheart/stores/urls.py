"""Where a `sqlite:` URL puts an agent's file."""

import re
import unicodedata
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

from byheart.errors import InputError, brief

_PREFIX = "sqlite:///"
_FORM = "use sqlite:///relative/path.db, sqlite:////absolute/path.db, or a folder that ends in /"
_SLUG_CHARACTERS = 40


def sqlite_path(url: str, agent_id: str) -> Path:
    """The file that a URL names for an agent (percent-encoding is undone).

    Args:
        url: `sqlite:///relative/path`, `sqlite:////absolute/path`; with `/` at its end, a folder of a file an agent.
        agent_id: whose file; any Unicode. It matters for a folder alone.

    Raises:
        InputError: the URL is of another form.
    """
    if not url.startswith(_PREFIX):
        raise InputError("url", f"is {brief(url)}", _FORM)
    encoded = url.removeprefix(_PREFIX)
    if "?" in encoded:
        raise InputError("url", "has parameters after '?'", "pass options as arguments; write %3F for a '?' in a name")
    try:
        path = unquote(encoded, errors="strict")
        path.encode()
    except UnicodeError as error:
        raise InputError("url", "is no well-formed Unicode", _FORM) from error
    if not path or "\0" in path or path == ":memory:":
        raise InputError("url", "names no file", f"{_FORM}, or memory: for a store in the process")
    return Path(path) / agent_file_name(agent_id) if path.endswith("/") else Path(path)


def agent_file_name(agent_id: str) -> str:
    """A file name for an agent: a part to read, and 64 bits of the id's SHA-256 to tell any two ids apart.

    It has lower-case ASCII letters, digits and `-` alone, so no file system folds two of them into one.
    """
    plain = unicodedata.normalize("NFKD", agent_id).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_SLUG_CHARACTERS].rstrip("-")
    digest = sha256(agent_id.encode()).hexdigest()[:16]
    return f"{slug}-{digest}.db" if slug else f"{digest}.db"
