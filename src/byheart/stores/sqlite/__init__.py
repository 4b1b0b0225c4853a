"""The embedded default: one agent, one SQLite file."""

from byheart.stores.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]
