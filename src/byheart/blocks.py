"""A memory as the recall protocol's MemoryBlock (P2), and the JSON Schema that it validates against."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import cast

from byheart.types import Chunk, EpisodeHeader

_SPEAKERS = {"user": "user", "assistant": "agent", "agent": "agent", "system": "system", "tool": "tool"}


def memory_block_schema() -> dict[str, object]:
    """The draft-07 JSON Schema of a MemoryBlock (P2)."""
    text = files("byheart").joinpath("schemas/memory_block.json").read_text(encoding="utf-8")
    return cast("dict[str, object]", json.loads(text))


def memory_block(chunk: Chunk, episode: EpisodeHeader, vector: Sequence[float]) -> dict[str, object]:
    """One memory in the form of the protocol (P2, P3).

    Args:
        chunk: the memory.
        episode: the header of the episode that it belongs to.
        vector: its pooled embedding, as many numbers as the model has dimensions.
    """
    metadata: dict[str, object] = {
        **episode.metadata,
        "source_agent_id": episode.agent_id,
        "episode_id": episode.id,
        "episode_type": episode.type,
        "tags": list(episode.tags),
    }
    if chunk.role in _SPEAKERS:
        metadata["speaker"] = _SPEAKERS[chunk.role]
    if chunk.speaker is not None:
        metadata["speaker_name"] = chunk.speaker
    if episode.session is not None:
        metadata["session"] = episode.session
    block: dict[str, object] = {
        "id": chunk.memory_id,
        "timestamp": _iso(chunk.timestamp),
        "type": chunk.coordinate.information,
        "source_id": chunk.source_id or chunk.id,
        "importance_score": chunk.importance,
        "content": chunk.text,
        "embedding_vector": [float(number) for number in vector],
        "metadata": metadata,
    }
    if chunk.last_accessed is not None:
        block["last_accessed"] = _iso(chunk.last_accessed)
    return block


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
