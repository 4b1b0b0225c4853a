"""Which files a path names: itself, or those of the folder in a fixed order."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from byheart.errors import InputError
from byheart.importers.source import Source, printable


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was passed over, and why."""

    file: str
    why: Literal["hidden", "binary", "link", "special"]


def walk(path: Path) -> Iterator[Path | Skipped]:
    """The files under `path`, sorted by name, folder by folder.

    Hidden ones, binary ones and symbolic links inside the folder are passed over: what a link inside leads to is
    either in the folder, and comes in by its own name, or outside, and does not belong to it. A path that is itself a
    file or a link is always taken.

    Raises:
        InputError: there is nothing at `path`.
    """
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from _folder(path)
    elif path.exists():
        yield Skipped(printable(path), "special")
    else:
        raise InputError("path", f"{printable(path)!r} does not exist", "name a file or a folder")


def _folder(folder: Path) -> Iterator[Path | Skipped]:
    for entry in sorted(folder.iterdir(), key=lambda found: found.name):
        if entry.name.startswith("."):
            yield Skipped(printable(entry), "hidden")
        elif entry.is_symlink():
            yield Skipped(printable(entry), "link")
        elif entry.is_dir():
            yield from _folder(entry)
        elif not entry.is_file():
            yield Skipped(printable(entry), "special")
        elif _is_binary(entry):
            yield Skipped(printable(entry), "binary")
        else:
            yield entry


def _is_binary(path: Path) -> bool:
    try:
        return Source(path).is_binary
    except OSError:
        return False  # reading it will say what is wrong
