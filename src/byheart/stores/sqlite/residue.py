"""The proof that nothing forgotten is left in a store's files: a search for its bytes, and a walk of every page.

The walk needs no list of what was forgotten. A page of a SQLite file holds its header, its cells and unused space;
where the unused space is zero, no page is free and no page is out of reach, every byte of the file belongs to a live
row (https://www.sqlite.org/fileformat2.html, sections 1.3 to 1.6).
"""

import re
import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

_INTERIOR_INDEX, _INTERIOR_TABLE, _LEAF_INDEX, _LEAF_TABLE = 2, 5, 10, 13
_INTERIOR = {_INTERIOR_INDEX, _INTERIOR_TABLE}
_HEADER_SIZE = 100
_LOCK_BYTE = 1 << 30
_NOT_ZERO = re.compile(rb"[^\0]+")

_PIECE = 16
_WORD = 8
_MOST_HASH_BITS = 23
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))

#: Reads so many bytes at an offset of the file.
Read = Callable[[int, int], bytes]


class Forgotten:
    """Texts and words that were forgotten since the last purge: in memory only, the first few megabytes of them."""

    MOST_TEXTS = 20_000
    MOST_CHARACTERS = 4_000_000

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self._characters = 0

    def add(self, texts: Iterable[str]) -> None:
        """Remember texts, as long as there is room."""
        for text in texts:
            if len(self.texts) >= self.MOST_TEXTS or self._characters >= self.MOST_CHARACTERS:
                return
            self.texts.add(text)
            self._characters += len(text)

    def clear(self) -> None:
        """Forget the forgotten."""
        self.texts.clear()
        self._characters = 0


@dataclass(slots=True)
class PageWalk:
    """A walk over every page of a database file.

    Attributes:
        seen: the pages that were reached.
        leftovers: where bytes lie in unused space, as (offset in the file, length).
        faults: what else may hide bytes, in words.
    """

    read: Read
    page_size: int
    usable: int
    pages: int
    seen: set[int] = field(default_factory=set[int])
    leftovers: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    faults: list[str] = field(default_factory=list[str])

    def page(self, number: int) -> bytes:
        """One page; each may be reached once, else it is given as zeros."""
        if number in self.seen or not 1 <= number <= self.pages:
            self.faults.append(f"page {number} is linked twice or lies outside the file")
            return bytes(self.page_size)
        self.seen.add(number)
        return self.read(self.page_size, (number - 1) * self.page_size)

    def expect_zero(self, number: int, unused: bytes | bytearray, start: int = 0) -> None:
        """Note the bytes of a page's unused space, which begins at `start`, that are not zero."""
        if unused == bytes(len(unused)):
            return
        offset = (number - 1) * self.page_size + start
        self.leftovers.extend((offset + run.start(), len(run[0])) for run in _NOT_ZERO.finditer(unused))


def walk_pages(read: Read, file_size: int, roots: Iterable[int]) -> PageWalk:
    """Look at the unused space of every page.

    Args:
        read: reads the database file.
        file_size: its size in bytes.
        roots: the root pages of its tables and indexes; page 1 is one without being named.
    """
    header = read(_HEADER_SIZE, 0)
    (size,) = struct.unpack_from(">H", header, 16)
    page_size = 65536 if size == 1 else size
    pages, _, free = struct.unpack_from(">III", header, 28)
    walk = PageWalk(read, page_size, page_size - header[20], pages)
    if file_size != pages * page_size:
        walk.faults.append("the file is longer than its pages")
    if free:
        walk.faults.append(f"{free} pages are free but still in the file")
    for root in (1, *roots):
        _walk_tree(walk, root)
    lock_page = _LOCK_BYTE // page_size + 1
    for number in sorted(set(range(1, pages + 1)) - walk.seen - {lock_page}):
        walk.faults.append(f"page {number} belongs to no table")
    return walk


def _walk_tree(walk: PageWalk, root: int) -> None:
    waiting = [root]
    while waiting:
        number = waiting.pop()
        page = walk.page(number)
        start = _HEADER_SIZE if number == 1 else 0
        kind = page[start]
        if kind not in {*_INTERIOR, _LEAF_INDEX, _LEAF_TABLE}:
            walk.faults.append(f"page {number} is of no known kind")
            continue
        try:
            children, chains = _check_page(walk, number, page, start, kind)
        except (IndexError, struct.error):
            walk.faults.append(f"page {number} is malformed")
            continue
        for first, length in chains:
            _walk_overflow(walk, first, length)
        waiting += children


def _check_page(
    walk: PageWalk, number: int, page: bytes, start: int, kind: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """Check one page of a tree; returns its child pages, and its overflow chains as (first page, bytes)."""
    free_block, cells = struct.unpack_from(">HH", page, start + 1)
    array = start + (12 if kind in _INTERIOR else 8)
    unused = bytearray(page)
    _blank(unused, 0, array + 2 * cells)
    children = [struct.unpack_from(">I", page, start + 8)[0]] if kind in _INTERIOR else []
    chains: list[tuple[int, int]] = []
    for offset in struct.unpack_from(f">{cells}H", page, array):
        child, payload, at = _cell_head(page, offset, kind)
        if child:
            children.append(child)
        local = 0 if kind == _INTERIOR_TABLE else _local_size(payload, walk.usable, kind)
        end = at + local
        if kind != _INTERIOR_TABLE and local < payload:
            chains.append((struct.unpack_from(">I", page, end)[0], payload - local))
            end += 4
        _blank(unused, offset, max(end, offset + 4))
    for offset in _free_blocks(page, free_block):
        _blank(unused, offset, offset + 4)
    walk.expect_zero(number, unused)
    return children, chains


def _blank(unused: bytearray, start: int, end: int) -> None:
    unused[start:end] = bytes(end - start)


def _free_blocks(page: bytes, offset: int) -> Iterator[int]:
    while offset:
        yield offset
        (offset,) = struct.unpack_from(">H", page, offset)


def _cell_head(page: bytes, offset: int, kind: int) -> tuple[int, int, int]:
    """A cell's child page (0: none), the size of its payload, and where its payload begins."""
    child = 0
    if kind in _INTERIOR:
        (child,) = struct.unpack_from(">I", page, offset)
        offset += 4
    payload, offset = _varint(page, offset)
    if kind == _LEAF_TABLE:
        _, offset = _varint(page, offset)
    return child, payload, offset


def _varint(page: bytes, offset: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = page[offset]
        offset += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, offset
    return value << 8 | page[offset], offset + 1


def _local_size(payload: int, usable: int, kind: int) -> int:
    """How much of a payload lies in the page itself (file format, section 1.6)."""
    least = (usable - 12) * 32 // 255 - 23
    most = usable - 35 if kind == _LEAF_TABLE else (usable - 12) * 64 // 255 - 23
    if payload <= most:
        return payload
    wanted = least + (payload - least) % (usable - 4)
    return wanted if wanted <= most else least


def _walk_overflow(walk: PageWalk, number: int, length: int) -> None:
    while length > 0 and number:
        page = walk.page(number)
        end = 4 + min(length, walk.usable - 4)
        walk.expect_zero(number, page[end:], end)
        length -= walk.usable - 4
        (number,) = struct.unpack_from(">I", page, 0)
    if number or length > 0:
        walk.faults.append("an overflow chain is longer or shorter than its row")


def pieces(text: str) -> Iterator[bytes]:
    """A text's UTF-8 in pieces of 16 to 31 bytes, so that a part of it is found as well; none if it is too short.

    What has less than 8 bytes turns up in vectors by chance; the walk over the pages speaks for it.
    """
    encoded = text.encode()
    last = max(len(encoded) - len(encoded) % _PIECE - _PIECE, 0)
    if len(encoded) >= _WORD:
        yield from (encoded[start : start + _PIECE] for start in range(0, last, _PIECE))
        yield encoded[last:]


def occurring(wanted: Collection[bytes], blocks: Iterable[bytes]) -> set[bytes]:
    """Which of many pieces occur in some blocks of bytes, in one pass over them.

    The 16 bytes (8 for the shorter pieces) from every position on are hashed (multiplicative hashing: Knuth, TAOCP 3,
    section 6.4) and looked up in a table of the pieces' heads; what is left is compared byte by byte.
    """
    short = {piece for piece in wanted if len(piece) < _PIECE}
    searches = [_Search.of(width, group) for width, group in ((_WORD, short), (_PIECE, set(wanted) - short)) if group]
    found: set[bytes] = set()
    for block in blocks:
        for search in searches:
            for at in search.candidates(block):
                for piece in search.by_head.get(block[at : at + search.width], ()):
                    if block.startswith(piece, at):
                        found.add(piece)
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    """Pieces by their heads, all of one width, and a table of which hashes any head has."""

    width: int
    by_head: dict[bytes, list[bytes]]
    bits: int
    table: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, width: int, group: Iterable[bytes]) -> Self:
        by_head: dict[bytes, list[bytes]] = {}
        for piece in group:
            by_head.setdefault(piece[:width], []).append(piece)
        bits = min((256 * len(by_head)).bit_length(), _MOST_HASH_BITS)
        table = np.zeros(1 << bits, np.bool_)
        heads = np.frombuffer(b"".join(by_head), "<u8").reshape(len(by_head), -1)
        table[_hashes(heads[:, 0], heads[:, -1] if width == _PIECE else None, bits)] = True
        return cls(width, by_head, bits, table)

    def candidates(self, block: bytes) -> Iterator[int]:
        """Where in a block a head may stand."""
        for start in range(min(_WORD, max(len(block) - _WORD + 1, 0))):
            words = np.frombuffer(block, "<u8", (len(block) - start) // _WORD, start)
            first, second = (words[:-1], words[1:]) if self.width == _PIECE else (words, None)
            for index in np.flatnonzero(self.table[_hashes(first, second, self.bits)]).tolist():
                yield index * _WORD + start


def _hashes(first: npt.NDArray[np.uint64], second: npt.NDArray[np.uint64] | None, bits: int) -> npt.NDArray[np.uint64]:
    mixed = first * _FACTORS[0]
    if second is not None:
        mixed += second * _FACTORS[1]
    return mixed >> np.uint64(64 - bits)


def overlapping_blocks(read: Read, size: int, block: int = 1 << 22) -> Iterator[bytes]:
    """A file in blocks, each beginning with the end of the one before, so that no piece is cut."""
    for start in range(0, size, block):
        begin = max(start - 2 * _PIECE, 0)
        yield read(min(size, start + block) - begin, begin)
