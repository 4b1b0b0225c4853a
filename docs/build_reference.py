"""Writes docs/reference/api.md from the docstrings of the public names; a test fails when it is stale."""

import dataclasses
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import byheart
from byheart.errors import ByheartError

PAGE = Path(__file__).parent / "reference" / "api.md"
HEAD = """# API

Made from the docstrings by `docs/build_reference.py`. `Memory`, which `open_memory` returns, has the
verbs of `AgentMemory`, blocking; every verb of `AgentMemory` but `scoped` is awaited. Ids in brackets, such as
(C2), are [promises](../promises.md); the [glossary](../glossary.md) has the words.
"""


def function_of(member: Any) -> Any:  # noqa: ANN401
    """The function behind a class's member, if there is one."""
    return getattr(member, "__func__", member)


def section(name: str) -> Iterator[str]:
    """One public name as Markdown."""
    thing = getattr(byheart, name)
    if not inspect.isclass(thing):
        yield f"## {name}\n\n```text\n{name}{signature(thing)}\n```\n\n{prose(thing)}"
    elif name == "Memory":
        yield f"## {name}\n\n{prose(thing)}"
    elif issubclass(thing, ByheartError):
        return
    else:
        yield f"## {name}\n\n{prose(thing)}"
        if dataclasses.is_dataclass(thing):
            fields = ", ".join(f"`{field.name}`" for field in dataclasses.fields(thing))
            yield f"Fields: {fields}."
        for verb, member in vars(thing).items():
            function = function_of(member)
            if inspect.isfunction(function) and not verb.startswith("_") and inspect.getdoc(function):
                yield f"### {name}.{verb}\n\n```text\n{verb}{signature(function)}\n```\n\n{prose(function)}"


def signature(function: Any) -> str:  # noqa: ANN401
    """A callable's signature, a parameter a line where it is long."""
    text = str(inspect.signature(function)).replace("byheart.types.", "").replace("collections.abc.", "")
    text = text.replace(str(byheart.Scope.app()), "APP_SCOPE").replace(str(byheart.Chunking()), "DEFAULT_CHUNKING")
    for module in ("byheart.models.base.", "byheart.engine.", "byheart.sync.", "byheart.memory.", "datetime."):
        text = text.replace(module, "")
    text = text.replace("self, ", "").replace("(self)", "()")
    return text if len(text) < 100 else text.replace(", ", ",\n    ").replace("(", "(\n    ", 1)


def prose(thing: object) -> str:
    """A docstring with its Args, Returns and Raises as lists."""
    lines: list[str] = []
    for line in (inspect.getdoc(thing) or "").splitlines():
        if line.rstrip() in {"Args:", "Returns:", "Raises:", "Attributes:"}:
            lines += [f"**{line.rstrip()[:-1]}**", ""]
        elif line.startswith("        "):
            lines[-1] += f" {line.strip()}"
        elif line.startswith("    "):
            lines.append(f"- {line.strip()}")
        else:
            lines.append(line)
    return "\n".join(lines).strip()


def errors() -> str:
    """The tree of errors, as its module draws it."""
    tree = inspect.getdoc(sys.modules["byheart.errors"]) or ""
    return f"## Errors\n\n```text\n{tree}\n```"


def build() -> str:
    """The whole page."""
    parts = [part for name in byheart.__all__ for part in section(name)]
    return "\n\n".join([HEAD.strip(), *parts, errors()]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(build(), encoding="utf-8")
