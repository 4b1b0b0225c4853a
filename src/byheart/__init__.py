"""byheart: the memory of AI agents.

The names below are loaded when they are first used, so that `import byheart` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from byheart.blocks import memory_block_schema
    from byheart.engine import MemoryConfig
    from byheart.errors import (
        AgentMismatchError,
        ByheartError,
        EmbedderError,
        EmbedderMismatchError,
        ImportFormatError,
        InputError,
        MissingPartError,
        ResidueError,
        ScopeError,
        StoreBusyError,
        StoreCorruptError,
        StoreError,
        StoreFullError,
        StoreReadOnlyError,
        StoreVersionError,
    )
    from byheart.memory import AgentMemory, create_agent_memory, create_agent_memory_from_env
    from byheart.sync import Memory, open_memory
    from byheart.types import (
        BatchReport,
        Check,
        Chunk,
        Chunking,
        Coordinate,
        Episode,
        EpisodeHeader,
        Filter,
        Hit,
        HitTrace,
        ItemError,
        MemoryStats,
        Message,
        NewEpisode,
        Part,
        PurgeReport,
        RecallResult,
        RecallTrace,
        Scope,
        ScoreTerms,
        Tier,
        Weights,
    )

__version__ = "0.1.0"

_HOMES = {
    "blocks": ("memory_block_schema",),
    "engine": ("MemoryConfig",),
    "errors": (
        "AgentMismatchError",
        "ByheartError",
        "EmbedderError",
        "EmbedderMismatchError",
        "ImportFormatError",
        "InputError",
        "MissingPartError",
        "ResidueError",
        "ScopeError",
        "StoreBusyError",
        "StoreCorruptError",
        "StoreError",
        "StoreFullError",
        "StoreReadOnlyError",
        "StoreVersionError",
    ),
    "memory": ("AgentMemory", "create_agent_memory", "create_agent_memory_from_env"),
    "sync": ("Memory", "open_memory"),
    "types": (
        "BatchReport",
        "Check",
        "Chunk",
        "Chunking",
        "Coordinate",
        "Episode",
        "EpisodeHeader",
        "Filter",
        "Hit",
        "HitTrace",
        "ItemError",
        "MemoryStats",
        "Message",
        "NewEpisode",
        "Part",
        "PurgeReport",
        "RecallResult",
        "RecallTrace",
        "Scope",
        "ScoreTerms",
        "Tier",
        "Weights",
    ),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AgentMemory",
    "AgentMismatchError",
    "BatchReport",
    "ByheartError",
    "Check",
    "Chunk",
    "Chunking",
    "Coordinate",
    "EmbedderError",
    "EmbedderMismatchError",
    "Episode",
    "EpisodeHeader",
    "Filter",
    "Hit",
    "HitTrace",
    "ImportFormatError",
    "InputError",
    "ItemError",
    "Memory",
    "MemoryConfig",
    "MemoryStats",
    "Message",
    "MissingPartError",
    "NewEpisode",
    "Part",
    "PurgeReport",
    "RecallResult",
    "RecallTrace",
    "ResidueError",
    "Scope",
    "ScopeError",
    "ScoreTerms",
    "StoreBusyError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreReadOnlyError",
    "StoreVersionError",
    "Tier",
    "Weights",
    "create_agent_memory",
    "create_agent_memory_from_env",
    "memory_block_schema",
    "open_memory",
]


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'byheart' has no attribute {name!r}")
    return getattr(import_module(f"byheart.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
