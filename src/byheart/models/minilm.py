"""The packaged embedder: all-MiniLM-L6-v2 in 8-bit integers, run by onnxruntime. It reaches no network."""

import itertools
import math
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

# onnxruntime reports on its host to its maker unless this is set before it is loaded. Nothing of ours reads it.
os.putenv("ORT_DISABLE_TELEMETRY", "1")

import anyio.to_thread
import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from tokenizers import Tokenizer

from byheart.errors import InputError, MissingPartError
from byheart.models.base import BaseEmbedder, Encoding, Vector
from byheart.models.vectors import unit_rows

try:
    import byheart_minilm
except ImportError as error:
    raise MissingPartError("the packaged embedding model is missing; type: pip install byheart-minilm") from error

#: Word pieces that one forward pass reads: sentence-transformers gives this model 256 tokens, two of them special.
WINDOW: Final = 254
#: Word pieces, at least, that neighbouring windows of a long text share: each piece has context on both sides.
OVERLAP: Final = 64
#: Padded tokens in one forward pass, and texts that are tokenised together: both bound the memory.
BATCH_TOKENS: Final = 1024
GROUP_TEXTS: Final = 256
#: Forward passes at a time: a query need not wait for a long batch, and many callers do not multiply the memory.
PASSES: Final = 2


class MiniLM(BaseEmbedder):
    """all-MiniLM-L6-v2 (384 dimensions) from the package `byheart-minilm`.

    One forward pass gives both kinds of vectors. `pooled` is the mean over all tokens, the special ones included, as
    sentence-transformers takes it; token vectors are those of the word pieces. A text of more than 254 word pieces is
    read in overlapping windows: `pooled` is the mean of the windows' means, weighted by their lengths, and each piece
    takes its vector from the window that holds most of its context. A text has the same vectors alone and in a batch.

    Loading waits until the first text. An instance may be shared by threads and by event loops.

    Args:
        threads: how many threads one forward pass uses; one a core by default, at most 4.
        projection: float32 of shape (384, k), which shortens token vectors to k numbers; the package's own by default,
            None for all 384.

    Raises:
        InputError: `threads` is below 1, or `projection` does not have 384 rows.
    """

    def __init__(
        self, *, threads: int | None = None, projection: Vector | Literal["packaged"] | None = "packaged"
    ) -> None:
        super().__init__("byheart-minilm", byheart_minilm.MODEL, byheart_minilm.DIMENSIONS)
        if threads is not None and threads < 1:
            raise InputError("threads", f"is {threads}", "use at least 1, or None")
        self._projection = _packaged_projection() if isinstance(projection, str) else projection
        if self._projection is not None and self._projection.shape[:-1] != (self.dimensions,):
            raise InputError("projection", f"has the shape {self._projection.shape}", f"use ({self.dimensions}, k)")
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._loading = threading.Lock()
        self._passes = threading.BoundedSemaphore(PASSES)
        self._network: _Network | None = None

    async def _encode(self, texts: Sequence[str], *, query: bool) -> Sequence[Encoding]:  # noqa: ARG002
        return await anyio.to_thread.run_sync(self._encode_all, texts)

    def _encode_all(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode group by group, so that only the results grow with the number of texts."""
        groups = (texts[start : start + GROUP_TEXTS] for start in range(0, len(texts), GROUP_TEXTS))
        network = self._load()
        return [encoding for group in groups for encoding in self._encode_group(network, group)]

    def _load(self) -> "_Network":
        """The network, loaded once however many threads ask."""
        with self._loading:
            if self._network is None:
                self._network = _Network(byheart_minilm.path(), self._threads)
            return self._network

    def _encode_group(self, network: "_Network", texts: Sequence[str]) -> list[Encoding]:
        pieces = [network.pieces(text) for text in texts]
        windows = [window for index, (ids, _) in enumerate(pieces) for window in _windows(index, ids)]
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        tokens = [np.zeros((len(ids), self._token_width()), np.float32) for ids, _ in pieces]
        for batch in _batches(windows):
            with self._passes:
                hidden = network.hidden([window.ids for window in batch])
            for window, states in zip(batch, hidden, strict=True):
                # A sum is a mean weighted by its length; what length it has is settled later.
                sums[window.text] += states[: len(window.ids) + 2].sum(axis=0)
                kept = states[1 + window.first - window.start : 1 + window.last - window.start]
                tokens[window.text][window.first : window.last] = self._token_vectors(kept)
        return [
            Encoding(pooled, vectors, np.array(offsets, np.int32).reshape(-1, 2))
            for pooled, vectors, (_, offsets) in zip(sums, tokens, pieces, strict=True)
        ]

    def _token_width(self) -> int:
        return self.dimensions if self._projection is None else self._projection.shape[1]

    def _token_vectors(self, states: Vector) -> Vector:
        """States of the last layer, of shape (n, 384), projected and at length 1."""
        projected = states if self._projection is None else states @ self._projection
        return unit_rows(projected).astype(np.float32)


def _packaged_projection() -> Vector:
    """The matrix in the package, float32 of shape (384, k)."""
    return np.load(byheart_minilm.path() / "token_projection.npy")


@dataclass(frozen=True, slots=True)
class _Window:
    """Word pieces of a text from `start` on; the text takes the vectors of its pieces `first` to `last` from here."""

    text: int
    ids: list[int]
    start: int
    first: int
    last: int


def _windows(text: int, ids: list[int]) -> Iterator[_Window]:
    """Cut a text's word pieces into windows of equal length that overlap and together cover all of them."""
    count = max(1, math.ceil((len(ids) - OVERLAP) / (WINDOW - OVERLAP)))
    starts = [(len(ids) - WINDOW) * index // (count - 1) for index in range(count)] if count > 1 else [0]
    # Two windows meet in the middle of what they share.
    meetings = [(start + WINDOW + following) // 2 for start, following in itertools.pairwise(starts)]
    for start, first, last in zip(starts, [0, *meetings], [*meetings, len(ids)], strict=True):
        yield _Window(text, ids[start : start + WINDOW], start, first, last)


def _batches(windows: Sequence[_Window]) -> Iterator[list[_Window]]:
    """Group windows of similar length, at most `BATCH_TOKENS` a group once they are padded."""
    batch: list[_Window] = []
    for window in sorted(windows, key=lambda window: len(window.ids)):
        if batch and (len(batch) + 1) * (len(window.ids) + 2) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


class _Network:
    """The tokenizer and the network, loaded from the package's folder."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._opening, self._closing = self._tokenizer.encode("").ids
        runtime: Any = onnxruntime
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Idle threads sleep: the application has better uses for its cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = runtime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])

    def pieces(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids of a text's word pieces, and the characters of the text that each stands for."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return encoding.ids, encoding.offsets

    def hidden(self, batch: Sequence[list[int]]) -> Vector:
        """The last layer's states, of shape (texts, tokens, 384), special tokens and padding included."""
        ids = np.zeros((len(batch), max(len(row) for row in batch) + 2), np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(batch):
            ids[index, : len(row) + 2] = [self._opening, *row, self._closing]
            mask[index, : len(row) + 2] = 1
        [states] = self._session.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": mask})
        return states
