"""Fit `token_projection.npy`: the matrix that shortens token vectors before their signs are stored.

    python -P fit_projection.py TEXTS [--dimensions 192]

TEXTS is a file of ordinary language, a text a line. The matrix holds the main axes of the token vectors of these texts
(principal components about the origin), turned by a random rotation, so that every dimension carries as much and its
sign is worth a bit. The packaged one was fitted on 4,331 turns of the meetings of QMSum (MIT), written `speaker: turn`;
fitted on other conversations it finds the same. `-P` makes Python read the installed model, not the folder beside this
file.
"""

import argparse
from pathlib import Path

import anyio
import numpy as np

from byheart.models.base import Vector
from byheart.models.minilm import MiniLM

SEED = 7


async def second_moment(texts: list[str]) -> Vector:
    """The mean outer product of the token vectors of some texts; shape (384, 384)."""
    encodings = await MiniLM(projection=None).encode(texts)
    tokens = np.concatenate([encoding.tokens for encoding in encodings])
    return (tokens.T @ tokens / np.float32(len(tokens))).astype(np.float32)


def projection(moment: Vector, dimensions: int) -> Vector:
    """The leading eigenvectors of a second moment, rotated; shape (384, dimensions), columns of length 1."""
    _, vectors = np.linalg.eigh(moment.astype(np.float64))
    leading = vectors[:, ::-1][:, :dimensions]
    rotation, _ = np.linalg.qr(np.random.default_rng(SEED).standard_normal((dimensions, dimensions)))
    return (leading @ rotation).astype(np.float32)


def main() -> None:
    """Read the texts, fit, write beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--dimensions", type=int, default=192)
    given = parser.parse_args()
    texts = [line for line in given.texts.read_text(encoding="utf-8").splitlines() if line.strip()]
    matrix = projection(anyio.run(second_moment, texts), given.dimensions)
    np.save(Path(__file__).parent / "token_projection.npy", matrix)
    print(f"fitted {matrix.shape} on {len(texts)} texts")


if __name__ == "__main__":
    main()
