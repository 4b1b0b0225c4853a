"""What every command shares: its common options, the memory it opens, and how it fails."""

import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Concatenate, ParamSpec, cast

import typer

from byheart.cli.output import Output
from byheart.config import load_settings
from byheart.errors import ByheartError, ImportFormatError, InputError, MissingPartError
from byheart.stores.urls import sqlite_path
from byheart.types import Scope, checked_id

if TYPE_CHECKING:
    from byheart.sync import Memory

_P = ParamSpec("_P")

OK, NOT_FOUND, BAD_INPUT, STORE_TROUBLE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141

_SQLITE = "sqlite:"
_NAMED = 5  # of the agents' files, where one was mistyped

_SHARED = "Common options"
_OPTIONS: dict[str, tuple[object, object]] = {
    "agent": (
        Annotated[str | None, typer.Option(help="The agent (default: BYHEART_AGENT).", rich_help_panel=_SHARED)],
        None,
    ),
    "url": (
        Annotated[str | None, typer.Option(help="Where it is kept (default: BYHEART_URL).", rich_help_panel=_SHARED)],
        None,
    ),
    "user": (
        Annotated[str | None, typer.Option(help="This user's memory, not the agent's own.", rich_help_panel=_SHARED)],
        None,
    ),
    "session_scope": (
        Annotated[
            str | None,
            typer.Option(help="What stays inside this session; needs --user.", rich_help_panel=_SHARED),
        ],
        None,
    ),
    "as_json": (Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=_SHARED)], False),
    "no_color": (Annotated[bool, typer.Option("--no-color", help="No colours.", rich_help_panel=_SHARED)], False),
    "debug": (
        Annotated[bool, typer.Option("--debug", help="Show an error's traceback.", rich_help_panel=_SHARED)],
        False,
    ),
}


@dataclass
class Session:
    """One run of a command: its common options, its output, and the memory, which is opened when first asked for.

    Attributes:
        creates: whether the command makes a memory where there is none; one that only looks must not.
    """

    agent: str | None = None
    url: str | None = None
    user: str | None = None
    session_scope: str | None = None
    as_json: bool = False
    no_color: bool = False
    debug: bool = False
    creates: bool = False
    out: Output = field(init=False)
    _memory: "Memory | None" = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.out = Output(as_json=self.as_json, no_color=self.no_color)

    @property
    def memory(self) -> "Memory":
        """The memory that the options name.

        Raises:
            ScopeError: a session without its user.
            StoreError: it cannot be opened.
            typer.Exit: there is none, and this command makes none; standard error says so.
        """
        if self._memory is None:
            scope = self.scope()
            if not self.creates:
                self._require()
            self._memory = open_memory(self.agent, self.url, scope)
        return self._memory

    def path(self) -> Path | None:
        """The file that the options name; None for a store that is no file.

        Raises:
            InputError: the URL or the agent's id is malformed.
        """
        agent, url = self._named()
        return sqlite_path(url, agent).absolute() if url.startswith(_SQLITE) else None

    def _named(self) -> tuple[str, str]:
        """The agent and the URL, from the options or else from the environment."""
        settings = load_settings()
        agent = settings.agent if self.agent is None else self.agent
        return checked_id("agent", agent), settings.url if self.url is None else self.url

    def _require(self) -> None:
        """Leave with one line on standard error if there is no memory: a mistyped agent must not make one."""
        path = self.path()
        if path is None or path.exists():
            return
        agent, url = self._named()
        there = sorted(path.parent.glob("*.db")) if url.endswith("/") else []
        names = ", ".join(each.name for each in there[:_NAMED]) + (", ..." if len(there) > _NAMED else "")
        others = f"; the agents' files there: {names}" if there else ""
        self.out.remark(f"error: no memory of agent {agent!r} at {path}{others}")
        raise typer.Exit(NOT_FOUND)

    def scope(self) -> Scope:
        """Whose memory the options name: the agent's own, a user's, or a session's."""
        if self.session_scope is not None:
            if self.user is None:
                raise InputError("user", "--session-scope needs --user", "add --user NAME: a session belongs to a user")
            return Scope.of_session(self.session_scope, self.user)
        return Scope.app() if self.user is None else Scope.of_user(self.user)

    def close(self) -> None:
        """Close the memory, if it was opened."""
        if self._memory is not None:
            self._memory.close()


def open_memory(agent: str | None, url: str | None, scope: Scope | None = None) -> "Memory":
    """Load the facade, which no command needs before it runs, and open a memory."""
    facade = importlib.import_module("byheart.sync")
    return cast("Memory", facade.open_memory(agent, url, scope=scope or Scope.app()))


def command(
    app: typer.Typer, name: str | None = None, *, creates: bool = False
) -> Callable[[Callable[Concatenate[Session, _P], int | None]], Callable[..., None]]:
    """Make a function a command: it gains the common options, is given a `Session`, and its errors become exit codes.

    The function answers with an exit code, or None for 0. With `creates` it makes a memory where there is none.
    """

    def decorate(function: Callable[Concatenate[Session, _P], int | None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(*args: object, **given: object) -> None:
            session = Session(**{option: given.pop(option) for option in _OPTIONS}, creates=creates)  # type: ignore[arg-type]
            raise typer.Exit(_guarded(session, functools.partial(function, session, *args, **given)))  # type: ignore[arg-type]

        own = list(inspect.signature(function).parameters.values())[1:]
        shared = [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for option, (annotation, default) in _OPTIONS.items()
        ]
        parameters = [*own, *shared]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        app.command(name)(run)
        return run

    return decorate


def _guarded(session: Session, call: Callable[[], int | None]) -> int:
    """Run a command; an error becomes one line on standard error and its exit code."""
    try:
        try:
            code = call() or OK
        finally:
            session.close()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (ByheartError, OSError) as error:
        if session.debug:
            raise
        session.out.remark(f"error: {describe(error)}")
        return BAD_INPUT if isinstance(error, InputError | ImportFormatError | MissingPartError) else STORE_TROUBLE
    return code


def describe(error: Exception) -> str:
    """An error in one line: for a wrong value the field, the problem and the fix."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())


def moment(field_name: str, value: str | None) -> datetime | None:
    """A time from the command line, in ISO 8601 with its zone.

    Raises:
        InputError: it is no time, or has no zone, so that nobody knows which moment it means.
    """
    if value is None:
        return None
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        raise InputError(field_name, f"{value!r} is no time", "write it like 2025-05-01T00:00:00Z") from None
    if when.tzinfo is None:
        fixed = when.isoformat()
        raise InputError(field_name, f"{value!r} has no zone", f"write {fixed}Z for UTC, or {fixed}+02:00")
    try:
        return when.astimezone(UTC)
    except OverflowError:
        raise InputError(field_name, f"{value!r} is no time in UTC", "use one from year 1 to 9999") from None
