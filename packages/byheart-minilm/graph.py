"""The network of all-MiniLM-L6-v2 as an ONNX graph whose matrices are 8-bit integers.

Weights are quantised here, once, a scale for every output channel. Activations are quantised while the model runs, a
scale for every token: one scale for a whole batch, which is what ready-made dynamic quantisation does, makes the vector
of a text depend on the texts beside it. Here a text's vector is the same alone, in a batch, and beside padding.

Weights use 7 of the 8 bits. Processors without VNNI instructions add pairs of products in 16 bits: 2 * 255 * 63 fits,
2 * 255 * 127 would saturate and give other vectors there than elsewhere.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[np.float32]

LAYERS = 6
HEADS = 12
WIDTH = 384
WEIGHT_LIMIT = 63
TABLE_LIMIT = 127
#: GELU never falls below -0.17: shifted by that much its output has no sign, and all 8 bits serve its size.
GELU_SHIFT = 0.17
CONTRIB = "com.microsoft"


def quantised(matrix: Array, limit: int) -> tuple[npt.NDArray[np.int8], Array]:
    """Round each row of `matrix` to integers of at most `limit`.

    Returns:
        The integers, of the matrix's shape, and the scale of each row: `integers * scales[:, None]` is near `matrix`.
    """
    largest = np.maximum(np.abs(matrix).max(axis=1), np.float32(1e-9))
    scales = (largest / np.float32(limit)).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales


class Graph:
    """Collects nodes and constants; every method that adds a node returns its output's name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        self.integers: dict[str, tuple[str, str]] = {}

    def constant(self, name: str, value: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> str:
        """Add a constant, unless one of this name is there."""
        if name not in self.constants:
            array = np.array(value, dtype=dtype, order="C")
            self.constants[name] = numpy_helper.from_array(array, name)
        return name

    def node(self, op: str, inputs: Sequence[str], output: str, *, domain: str = "", **attributes: float) -> str:
        """Add a node with one output."""
        node = helper.make_node(op, inputs, [output], name=output, domain=domain)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in sorted(attributes.items()))
        self.nodes.append(node)
        return output

    def norm(self, x: str, weights: Mapping[str, Array], source: str, output: str) -> str:
        """Layer normalisation with the weights called `source`."""
        gain = self.constant(f"{output}.gain", weights[f"{source}.weight"])
        bias = self.constant(f"{output}.bias", weights[f"{source}.bias"])
        return self.node("LayerNormalization", [x, gain, bias], output, axis=-1, epsilon=1e-12)

    def by_row(self, x: str, *, signed: bool) -> tuple[str, str]:
        """Quantise the rows of `x` to 8 bits, each by its largest value.

        Returns:
            The integers (with zero at 128 if signed, else at 0) and the largest value of each row.
        """
        if x not in self.integers:
            size = self.node("Abs", [x], f"{x}.size") if signed else x
            axis = self.constant("last_axis", [-1], np.int64)
            largest = self.node("ReduceMax", [size, axis], f"{x}.largest", keepdims=1)
            unit = self.node("Div", [x, largest], f"{x}.unit")
            step, zero = self.steps(signed=signed)
            self.integers[x] = (self.node("QuantizeLinear", [unit, step, zero], f"{x}.integers"), largest)
        return self.integers[x]

    def steps(self, *, signed: bool) -> tuple[str, str]:
        """The size of one integer step for values up to 1, and where zero stands."""
        if signed:
            return self.constant("signed.step", 1 / 127), self.constant("signed.zero", 128, np.uint8)
        return self.constant("unsigned.step", 1 / 255), self.constant("unsigned.zero", 0, np.uint8)

    def linear(self, x: str, matrix: Array, bias: Array, output: str, *, shift: float = 0.0) -> str:
        """`x @ matrix.T + bias` in integers; `shift` is a constant that makes every value of `x` positive."""
        integers, scales = quantised(matrix, WEIGHT_LIMIT)
        if shift:
            x = self.node("Add", [x, self.constant(f"{output}.shift", shift)], f"{output}.shifted")
            bias = bias - np.float32(shift) * scales * integers.sum(axis=1, dtype=np.int64).astype(np.float32)
        rows, largest = self.by_row(x, signed=not shift)
        step, zero = self.steps(signed=not shift)
        inputs = [
            rows,
            self.constant(f"{output}.weight", integers.T, np.int8),
            step,
            self.constant(f"{output}.scale", scales),
            zero,
            self.constant(f"{output}.zero", np.zeros(len(scales)), np.int8),
        ]
        product = self.node("MatMulIntegerToFloat", inputs, f"{output}.product", domain=CONTRIB)
        scaled = self.node("Mul", [product, largest], f"{output}.scaled")
        return self.node("Add", [scaled, self.constant(f"{output}.bias", bias)], output)


def embeddings(graph: Graph, weights: Mapping[str, Array]) -> str:
    """Word and position vectors of `input_ids`, summed and normalised."""
    table, scales = quantised(weights["embeddings.word_embeddings.weight"], TABLE_LIMIT)
    rows = graph.node("Gather", [graph.constant("words.table", table, np.int8), "input_ids"], "words.integers")
    sizes = graph.node("Gather", [graph.constant("words.scales", scales[:, None]), "input_ids"], "words.scale")
    floats = graph.node("Cast", [rows], "words.floats", to=TensorProto.FLOAT)
    words = graph.node("Mul", [floats, sizes], "words")
    # Every text is one segment, so the first segment's vector joins the positions.
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    places = graph.constant("places.table", weights["embeddings.position_embeddings.weight"] + segment)
    length = graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    place = graph.node("Slice", [places, graph.constant("first", [0], np.int64), length], "places")
    return graph.norm(graph.node("Add", [words, place], "summed"), weights, "embeddings.LayerNorm", "embedded")


def layer(graph: Graph, weights: Mapping[str, Array], index: int, x: str, mask: str) -> str:
    """One transformer layer: attention and a feed-forward network, each added to its input and normalised."""
    source, name = f"encoder.layer.{index}", f"layer{index}"
    parts = [f"{source}.attention.self.{part}" for part in ("query", "key", "value")]
    joined = graph.linear(
        x,
        np.concatenate([weights[f"{part}.weight"] for part in parts]),
        np.concatenate([weights[f"{part}.bias"] for part in parts]),
        f"{name}.joined",
    )
    split = [f"{name}.query", f"{name}.key", f"{name}.value"]
    graph.nodes.append(helper.make_node("Split", [joined], split, name=f"{name}.split", axis=-1, num_outputs=3))
    heads = graph.node("MultiHeadAttention", [*split, "", mask], f"{name}.heads", domain=CONTRIB, num_heads=HEADS)
    out = f"{source}.attention.output"
    attended = graph.linear(heads, weights[f"{out}.dense.weight"], weights[f"{out}.dense.bias"], f"{name}.attended")
    x = graph.norm(graph.node("Add", [x, attended], f"{name}.sum1"), weights, f"{out}.LayerNorm", f"{name}.norm1")
    wide = f"{source}.intermediate.dense"
    hidden = graph.linear(x, weights[f"{wide}.weight"], weights[f"{wide}.bias"], f"{name}.wide")
    active = graph.node("Gelu", [hidden], f"{name}.active")
    out = f"{source}.output"
    narrow = graph.linear(
        active, weights[f"{out}.dense.weight"], weights[f"{out}.dense.bias"], f"{name}.narrow", shift=GELU_SHIFT
    )
    last = "last_hidden_state" if index == LAYERS - 1 else f"{name}.norm2"
    return graph.norm(graph.node("Add", [x, narrow], f"{name}.sum2"), weights, f"{out}.LayerNorm", last)


def model(weights: Mapping[str, Array]) -> bytes:
    """The serialised ONNX model, the same bytes on every run.

    Args:
        weights: the model's float32 parameters under the names of its safetensors file.

    Returns:
        A model with the inputs `input_ids` and `attention_mask`, int64 of shape (texts, tokens), and the output
        `last_hidden_state`, float32 of shape (texts, tokens, 384).
    """
    graph = Graph()
    x = embeddings(graph, weights)
    mask = graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    for index in range(LAYERS):
        x = layer(graph, weights, index, x, mask)
    inputs = ("input_ids", "attention_mask")
    proto = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["texts", "tokens", WIDTH])],
        list(graph.constants.values()),
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(CONTRIB, 1)]
    made = helper.make_model(proto, opset_imports=opsets, ir_version=9, producer_name="byheart")
    return made.SerializeToString(deterministic=True)
