"""The embedding model all-MiniLM-L6-v2 in 8-bit integers, as data.

The folder `path()` holds `model.onnx` (inputs `input_ids` and `attention_mask`, output `last_hidden_state`),
`tokenizer.json` and `token_projection.npy`, which shortens token vectors. Nothing here runs the model: byheart does.
"""

from pathlib import Path

__version__ = "1.0.0"

#: The model's id, which a store keeps beside its vectors.
MODEL = "all-MiniLM-L6-v2-int8"
#: The length of a vector.
DIMENSIONS = 384
#: The sha256 of `model.onnx`.
SHA256 = "c113dd1bdc115a75a8d1d22291a8d4166b535dcc45ce9b89d3d210c2ca6c2a66"


def path() -> Path:
    """The folder with the model's files."""
    return Path(__file__).parent
