"""Every error that byheart raises, in one tree.

* ByheartError
  x InputError (also ValueError)      something passed in is wrong: names the field, the problem and the fix
    - ScopeError                      the scope is missing, malformed or not allowed here
  x StoreError                        the store could not do it; nothing was changed
    - StoreBusyError                  another process held the store for too long; try again
    - StoreFullError                  the disk, or the store's own limit, is full
    - StoreReadOnlyError              the file or its folder may not be written
    - StoreCorruptError               the file is damaged, or is not a byheart store
    - StoreVersionError               a newer byheart wrote this store; it was left untouched
    - AgentMismatchError              the file belongs to another agent
    - ResidueError                    bytes of forgotten texts could not be shown to be gone
  x EmbedderError                     an embedder failed or answered nonsense; nothing was stored
    - EmbedderMismatchError           the store was filled by another model, or by another dimension
  x MissingPartError (also ImportError)  an optional part is not installed: says what to type
  x ImportFormatError                 a file to ingest is in no format that byheart knows
"""

__all__ = [
    "AgentMismatchError",
    "ByheartError",
    "EmbedderError",
    "EmbedderMismatchError",
    "ImportFormatError",
    "InputError",
    "MissingPartError",
    "ResidueError",
    "ScopeError",
    "StoreBusyError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreReadOnlyError",
    "StoreVersionError",
]

_BRIEF = 60  # characters


class ByheartError(Exception):
    """The root of the tree: catch it to catch everything that byheart raises on purpose."""


def brief(value: object) -> str:
    """A wrong value as a message shows it: its `repr` in at most 60 characters.

    Args:
        value: any value.
    """
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return f"an over-long {type(value).__name__}"
    return text if len(text) <= _BRIEF else f"{text[: _BRIEF - 1]}…"


class InputError(ByheartError, ValueError):
    """An argument is wrong.

    Args:
        field: the argument's name, with an index where it is one of several (`tags[2]`).
        problem: what is wrong with the value.
        fix: what to pass instead.
    """

    def __init__(self, field: str, problem: str, fix: str) -> None:
        super().__init__(field, problem, fix)
        self.field = field
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}; {self.fix}"


class ScopeError(InputError):
    """The scope is missing, malformed or not allowed here."""


class StoreError(ByheartError):
    """The store could not do what was asked; nothing was changed."""


class StoreBusyError(StoreError):
    """Another process held the store for longer than the time-out; the call may be tried again."""


class StoreFullError(StoreError):
    """The disk, or the store's own limit, is full; what was acknowledged before stays readable."""


class StoreReadOnlyError(StoreError):
    """The file or its folder may not be written."""


class StoreCorruptError(StoreError):
    """The file is damaged, or is not a byheart store."""


class StoreVersionError(StoreError):
    """A newer byheart wrote this store; it was left untouched."""


class AgentMismatchError(StoreError):
    """The file belongs to another agent."""


class ResidueError(StoreError):
    """Bytes of forgotten texts are still in a file, or could not be shown to be gone."""


class EmbedderError(ByheartError):
    """An embedder failed or answered nonsense; nothing was stored."""


class EmbedderMismatchError(EmbedderError):
    """The store was filled by another model or by another dimension; vectors are never mixed."""


class MissingPartError(ByheartError, ImportError):
    """An optional part is not installed; the message says what to type."""


class ImportFormatError(ByheartError):
    """A file to ingest is in no format that byheart knows."""
