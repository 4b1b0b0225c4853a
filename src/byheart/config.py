"""The only reader of the environment: it answers with plain values, and everything else takes those.

| variable | what | default |
|---|---|---|
| `BYHEART_URL` | where the memory is kept | a SQLite file an agent in the platform's data folder |
| `BYHEART_AGENT` | the agent's id | `default` |
| `BYHEART_EMBEDDER` | `minilm`, `openai:MODEL`, `cohere:MODEL`, `hash` (for tests) | `minilm` |
| `BYHEART_THREADS` | threads of the default embedder | the number of cores, at most 4 |
| `OPENAI_API_KEY`, `COHERE_API_KEY` (or `CO_API_KEY`) | keys of the embedding providers | |
| `KV_REST_API_URL`, `KV_REST_API_TOKEN` | an Upstash Redis, by the names that CLAWS gives them | |
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_data_path

from byheart.errors import InputError


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says; every field has a default, so nothing needs to be set."""

    url: str
    agent: str = "default"
    embedder: str = "minilm"
    threads: int | None = None
    api_keys: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    redis_url: str | None = None
    redis_token: str | None = field(default=None, repr=False)


def default_url() -> str:
    """The folder of SQLite files, one an agent, in the platform's place for an application's data."""
    folder: Path = user_data_path("byheart", appauthor=False)
    return f"sqlite:///{folder.as_posix()}/"


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from the process's environment, or from the mapping given.

    Raises:
        InputError: a variable's value cannot be used; names the variable.
    """
    env = os.environ if environment is None else environment
    threads = env.get("BYHEART_THREADS", "").strip()
    if threads and not (threads.isdecimal() and int(threads) > 0):
        raise InputError("BYHEART_THREADS", f"is {threads!r}", "set a whole number of at least 1, or unset it")
    keys = {
        "openai": env.get("OPENAI_API_KEY", ""),
        "cohere": env.get("COHERE_API_KEY", "") or env.get("CO_API_KEY", ""),
    }
    return Settings(
        url=env.get("BYHEART_URL", "").strip() or default_url(),
        agent=env.get("BYHEART_AGENT", "").strip() or "default",
        embedder=env.get("BYHEART_EMBEDDER", "").strip() or "minilm",
        threads=int(threads) if threads else None,
        api_keys={name: key for name, key in keys.items() if key},
        redis_url=env.get("KV_REST_API_URL") or None,
        redis_token=env.get("KV_REST_API_TOKEN") or None,
    )
