"""The packaged model: what its vectors are, long texts, batches, threads, and the wheel it comes in."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import byheart_minilm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byheart.errors import InputError
from byheart.models.minilm import WINDOW, MiniLM
from byheart.testing.embedder_contract import run

ROOT = Path(__file__).parents[2]
SENTENCE = "Caroline went to the support group on 7 May. "


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM(threads=1)


@pytest.fixture(scope="module")
def raw() -> MiniLM:
    return MiniLM(threads=1, projection=None)


def test_the_model_is_the_published_one() -> None:
    """The installed file has the hash that its package names."""
    content = (byheart_minilm.path() / "model.onnx").read_bytes()
    assert hashlib.sha256(content).hexdigest() == byheart_minilm.SHA256


def test_it_knows_meanings(minilm: MiniLM) -> None:
    """Texts that say the same are nearer than texts that share words."""
    a, b, c = np.array(
        run(
            minilm.embed_batch,
            [
                "The physician treated the sick child.",
                "A doctor cured the ill kid.",
                "The sick beat treated the club to a child's tune.",
            ],
        )
    )
    assert a @ b > 0.6 > a @ c


# The float32 model's first numbers, unit length, for the sentence below: computed with onnxruntime from the published
# weights without any quantisation.
REFERENCE_TEXT = "That is a happy person"
REFERENCE = np.array(
    [
        -0.0341,
        0.0923,
        0.0487,
        -0.0346,
        -0.0644,
        -0.0265,
        0.1343,
        -0.0067,
        0.0638,
        -0.0060,
        0.0885,
        -0.0173,
        -0.0255,
        0.0045,
        0.0056,
        0.0154,
        -0.0595,
        -0.0321,
        0.0140,
        0.0028,
        -0.1003,
        -0.0014,
        -0.0210,
        0.0101,
        -0.0167,
        -0.0168,
        0.0405,
        -0.0019,
        0.0866,
        0.0633,
        -0.0261,
        -0.0238,
    ]
)


def test_it_agrees_with_the_float32_model(minilm: MiniLM) -> None:
    """The 8-bit vectors stay close to the published model's."""
    vector = np.array(run(minilm.embed, REFERENCE_TEXT))[: len(REFERENCE)]
    cosine = vector @ REFERENCE / np.linalg.norm(vector) / np.linalg.norm(REFERENCE)
    assert cosine > 0.98


def test_offsets_are_characters(minilm: MiniLM) -> None:
    """Offsets count characters of the text as it was given: accents, emoji and scripts included."""
    text = "Café 👩‍👩‍👧 e\u0301tude 日本 naïve"
    [encoding] = run(minilm.encode, [text])
    words = [text[start:end] for start, end in encoding.offsets.tolist()]
    assert words == ["Café", "👩‍👩‍👧", "e\u0301t", "ude", "日", "本", "naïve"]


def test_the_empty_text(minilm: MiniLM) -> None:
    [encoding] = run(minilm.encode, [""])
    assert encoding.tokens.shape[0] == 0
    assert np.linalg.norm(encoding.pooled) == pytest.approx(1)


def test_a_batch_changes_no_vector(raw: MiniLM) -> None:
    """A text's vectors do not depend on its neighbours, nor on padding, to the last bit."""
    texts = [SENTENCE * count for count in (1, 9, 2, 5, 1, 40, 3)]
    for text, together in zip(texts, run(raw.encode, texts), strict=True):
        [alone] = run(raw.encode, [text])
        assert np.abs(alone.pooled - together.pooled).max() < 1e-6
        assert np.abs(alone.tokens - together.tokens).max() < 1e-6


@pytest.mark.parametrize("pieces", [1, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW, 1000, 3001])
def test_no_piece_is_lost_or_doubled(minilm: MiniLM, pieces: int) -> None:
    """Texts past the model's window are read whole: each word has one token vector, in its place."""
    text = " ".join("garden" for _ in range(pieces))
    [encoding] = run(minilm.encode, [text])
    assert [text[start:end] for start, end in encoding.offsets.tolist()] == ["garden"] * pieces
    assert (np.diff(encoding.offsets[:, 0]) == len("garden ")).all()
    assert np.linalg.norm(encoding.tokens, axis=1) == pytest.approx(np.ones(pieces), abs=1e-5)


def test_the_end_of_a_long_text_counts(minilm: MiniLM) -> None:
    """Nothing is truncated: what stands after the window moves the vector towards it."""
    filler = "The weather was calm and the sea was flat. " * 40
    ending = "My daughter plays the violin in the school orchestra. " * 40
    plain, mixed, wanted = np.array(run(minilm.embed_batch, [filler, filler + ending, ending]))
    assert mixed @ wanted > plain @ wanted + 0.2


def test_tokens_in_a_long_text_keep_their_meaning(raw: MiniLM) -> None:
    """A piece that a later window reads is like the same piece read near the start."""
    [short, long] = run(raw.encode, [SENTENCE * 10, SENTENCE * 60])
    middle = short.tokens[40:60]
    period = len(run(raw.encode, [SENTENCE])[0].tokens)
    later = long.tokens[40 + period * 30 : 60 + period * 30]
    assert (middle * later).sum(axis=1).min() > 0.8


@settings(max_examples=25, deadline=None)
@given(text=st.text(max_size=120))
def test_any_text_is_encoded(text: str) -> None:
    """N9: every well-formed string has a vector, and offsets inside it."""
    [encoding] = run(SHARED.encode, [text])
    assert np.isfinite(encoding.pooled).all()
    assert (encoding.offsets[:, 0] < encoding.offsets[:, 1]).all()
    assert encoding.offsets.max(initial=0) <= len(text)


SHARED = MiniLM(threads=1)


def test_threads_share_one_instance() -> None:
    """The model is loaded once and serves several threads and event loops at a time."""
    embedder = MiniLM(threads=1)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(run, embedder.embed, SENTENCE) for _ in range(8)]
        vectors = [future.result() for future in waiting]
    assert np.ptp(np.array(vectors), axis=0).max() < 1e-6


def test_a_projection_of_ones_own(raw: MiniLM) -> None:
    """Token vectors are the raw ones times the matrix, at length 1."""
    matrix = np.random.default_rng(7).standard_normal((384, 16)).astype(np.float32)
    [full] = run(raw.encode, [SENTENCE])
    [short] = run(MiniLM(threads=1, projection=matrix).encode, [SENTENCE])
    expected = full.tokens @ matrix
    assert full.tokens.shape[1] == 384
    assert short.tokens == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-5)


def test_bad_options_are_named() -> None:
    with pytest.raises(InputError, match=r"^threads"):
        MiniLM(threads=0)
    with pytest.raises(InputError, match=r"^projection"):
        MiniLM(projection=np.ones((383, 8), np.float32))
    with pytest.raises(InputError, match=r"^projection"):
        MiniLM(projection=np.ones(384, np.float32))


@pytest.mark.skipif(
    not (ROOT / ".cache" / "byheart-minilm" / "model.onnx").exists(), reason="make setup did not build the wheel here"
)
def test_the_wheel_is_the_same_each_time(tmp_path: Path) -> None:
    """The build script gives the same bytes on every run, with a RECORD that pip can check."""
    script = ROOT / "packages" / "byheart-minilm" / "build.py"
    hashes: list[str] = []
    for folder in ("a", "b"):
        command = [sys.executable, str(script), "--out", str(tmp_path / folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        path, digest = done.stdout.splitlines()
        assert f"sha256 {hashlib.sha256(Path(path).read_bytes()).hexdigest()}" == digest
        hashes.append(digest)
    assert hashes[0] == hashes[1]
    with zipfile.ZipFile(tmp_path / "a" / "byheart_minilm-1.0.0-py3-none-any.whl") as wheel:
        names = wheel.namelist()
        record = wheel.read("byheart_minilm-1.0.0.dist-info/RECORD").decode()
    assert sorted(re.findall(r"^[^,]+", record, re.MULTILINE)) == sorted(names)
    assert {"byheart_minilm/model.onnx", "byheart_minilm-1.0.0.dist-info/licenses/NOTICE"} <= set(names)


def test_the_runtime_reports_nothing_to_its_maker(tmp_path: Path) -> None:
    """Loading and using the model leaves no trace in the home folder, where onnxruntime would keep its telemetry."""
    code = "import anyio; from byheart.models.minilm import MiniLM; anyio.run(MiniLM().embed, 'hello')"
    env = {**os.environ, "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, cwd=tmp_path)
    assert not (tmp_path / ".cache").exists()
