"""The partitions' search arrays: loaded when they are first read, kept in step, let go of when memory runs short."""

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio import to_thread

from byheart.retrieval.index import PartitionIndex
from byheart.stores.base import Store
from byheart.types import Scope

#: A delta of more rows than that is taken in on a thread, so that other tasks go on.
_FEW_ROWS = 64


@dataclass(slots=True)
class _Kept:
    index: PartitionIndex = field(default_factory=PartitionIndex)
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    users: int = 0
    nbytes: int = 0


class Partitions:
    """The search arrays of one store's partitions.

    Args:
        store: where the changes come from.
        ceiling: how many bytes of arrays stay loaded; beyond that the longest unused partitions go.
    """

    def __init__(self, store: Store, ceiling: int) -> None:
        self._store = store
        self._ceiling = ceiling
        self._kept: OrderedDict[Scope, _Kept] = OrderedDict()
        self._nbytes = 0

    @property
    def nbytes(self) -> int:
        """How many bytes are loaded."""
        return self._nbytes

    @asynccontextmanager
    async def held(self, scope: Scope) -> AsyncGenerator[PartitionIndex]:
        """A partition's arrays as the store is now; nobody else reads or changes them meanwhile.

        Raises:
            StoreError: the store could not be read.
        """
        kept = self._kept.setdefault(scope, _Kept())
        self._kept.move_to_end(scope)
        kept.users += 1
        try:
            async with kept.lock:
                await self._refresh(scope, kept)
                yield kept.index
        finally:
            kept.users -= 1
            self._evict()

    async def _refresh(self, scope: Scope, kept: _Kept) -> None:
        delta = await self._store.changes(scope, kept.index.version)
        # Arrays that took in half a delta would be wrong for good: if this fails, they are loaded anew.
        index, kept.index = kept.index, PartitionIndex()
        if len(delta.rows) > _FEW_ROWS:
            await to_thread.run_sync(index.apply, delta)
        else:
            index.apply(delta)
        kept.index = index
        self._nbytes += index.nbytes - kept.nbytes
        kept.nbytes = index.nbytes

    def _evict(self) -> None:
        if self._nbytes <= self._ceiling:
            return
        for scope, kept in list(self._kept.items()):
            if self._nbytes <= self._ceiling:
                return
            if not kept.users:
                self._nbytes -= kept.nbytes
                del self._kept[scope]
