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

    @property
    def nbytes(self) -> int:
        """How many bytes are loaded."""
        return sum(kept.index.nbytes for kept in self._kept.values())

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
                await self._refresh(scope, kept.index)
                yield kept.index
        finally:
            kept.users -= 1
            self._evict()

    async def _refresh(self, scope: Scope, index: PartitionIndex) -> None:
        delta = await self._store.changes(scope, index.version)
        if len(delta.rows) > _FEW_ROWS:
            # Not to be cancelled: half a delta would leave the arrays wrong.
            await to_thread.run_sync(index.apply, delta)
        else:
            index.apply(delta)

    def _evict(self) -> None:
        total = self.nbytes
        for scope in list(self._kept):
            if total <= self._ceiling:
                return
            kept = self._kept[scope]
            if not kept.users:
                total -= kept.index.nbytes
                del self._kept[scope]
