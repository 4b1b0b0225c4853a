"""The SQL of the store, read from its files once."""

from collections.abc import Mapping
from importlib.resources import files

_MARK = "-- name: "
_ROOM = "byheart.stores.sqlite"


def parse_queries(text: str) -> dict[str, str]:
    """Split a file of queries at its `-- name: x` lines; what stands before the first is comment."""
    queries: dict[str, str] = {}
    for block in text.split(_MARK)[1:]:
        name, _, sql = block.partition("\n")
        queries[name.strip()] = sql.strip()
    return queries


def read_migrations() -> list[str]:
    """The scripts of `migrations/`, by their numbers: `0001_initial.sql` takes a store from version 0 to 1."""
    folder = files(_ROOM).joinpath("migrations")
    scripts = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [folder.joinpath(name).read_text(encoding="utf-8") for name in scripts]


#: name -> SQL.
SQL: Mapping[str, str] = parse_queries(files(_ROOM).joinpath("queries.sql").read_text(encoding="utf-8"))
