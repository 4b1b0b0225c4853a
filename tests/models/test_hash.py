"""The embedder for tests: the same in every process, and near where words are shared."""

import subprocess
import sys

import numpy as np
import pytest

from byheart.errors import InputError
from byheart.testing.embedder_contract import run
from byheart.testing.embedders import HashEmbedder


def test_every_process_answers_the_same() -> None:
    code = (
        "import anyio; from byheart.testing.embedders import HashEmbedder;"
        "print(anyio.run(HashEmbedder(8, 4).embed, 'Grüße aus Köln'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(run(HashEmbedder(8, 4).embed, "Grüße aus Köln"))


def test_shared_words_are_near() -> None:
    garden, gardens, disk = np.array(
        run(HashEmbedder().embed_batch, ["the garden is green", "The GARDEN is wet", "no disk space left"])
    )
    assert garden @ gardens > garden @ disk + 0.3


def test_a_text_without_words_has_a_vector() -> None:
    [encoding] = run(HashEmbedder().encode, [" … "])
    assert len(encoding.tokens) == 0
    assert np.linalg.norm(encoding.pooled) == pytest.approx(1)


def test_it_needs_no_pytest() -> None:
    """The command line offers it, so it must load where pytest is not installed."""
    code = "import sys; sys.modules['pytest'] = None; import byheart.testing.embedders"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("token_dimensions", [0, 65])
def test_bad_options_are_named(token_dimensions: int) -> None:
    with pytest.raises(InputError, match=r"^token_dimensions"):
        HashEmbedder(64, token_dimensions)
