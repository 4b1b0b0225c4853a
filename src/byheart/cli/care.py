"""The commands that look after a store: doctor, purge, prune, clear, schema."""

import sys
from importlib import metadata
from typing import Annotated

import typer

from byheart.blocks import memory_block_schema
from byheart.cli.session import NOT_FOUND, OK, Session, command, moment
from byheart.config import load_settings
from byheart.errors import InputError
from byheart.types import PurgeReport

app = typer.Typer()


def version() -> str:
    """The version of byheart that is installed."""
    try:
        return metadata.version("byheart")
    except metadata.PackageNotFoundError:
        return "unknown (not installed as a package)"


@command(app)
def doctor(session: Session) -> int:
    """Check the store's health; 1 if something is wrong."""
    settings = load_settings()
    about = {
        "version": version(),
        "agent": session.agent or settings.agent,
        "url": session.url or settings.url,
        "embedder": settings.embedder,
    }
    checks = session.memory.check()
    well = all(check.ok for check in checks)
    if session.as_json:
        session.out.json({**about, "ok": well, "checks": checks})
    else:
        session.out.rows(("", ""), list(about.items()))
        session.out.rows(
            ("", "check", "what was seen"),
            [("ok" if check.ok else "WRONG", check.name, check.detail) for check in checks],
        )
    return OK if well else NOT_FOUND


@command(app)
def purge(session: Session) -> int:
    """Wipe the last bytes of what was forgotten, and prove it."""
    return _proof(session, session.memory.purge())


def _proof(session: Session, report: PurgeReport) -> int:
    if session.as_json:
        session.out.json(report)
        return OK
    size = sum(report.files.values())
    session.out.line(
        f"nothing is left: {len(report.files)} files ({size:,} bytes) searched for {report.texts_checked} forgotten "
        f"texts, {report.pages_checked} pages checked for leftovers"
    )
    return OK


@command(app)
def prune(
    session: Session,
    keep: Annotated[int | None, typer.Option(help="Keep this many of the newest episodes.")] = None,
    older_than: Annotated[
        str | None, typer.Option(help="Delete what happened before this time (ISO 8601 with a zone).")
    ] = None,
) -> int:
    """Delete old episodes."""
    limit = moment("older-than", older_than)
    if (keep is None) == (limit is None):
        raise InputError("prune", "needs one rule", "give either --keep N or --older-than TIME")
    memory = session.memory
    deleted = memory.prune_older_than(limit) if limit is not None else memory.prune(keep or 0)
    if session.as_json:
        session.out.json({"deleted": deleted})
    else:
        session.out.line(f"deleted {deleted} {'episode' if deleted == 1 else 'episodes'}")
    return OK


@command(app)
def clear(
    session: Session,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,  # noqa: FBT002
) -> int:
    """Delete everything in this scope, and prove it."""
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("yes", "is missing, and nobody can be asked", "add --yes to delete everything")
        count = session.memory.get_stats().total_episodes
        if not typer.confirm(f"Delete everything of this scope ({count} episodes can be read)?", err=True):
            session.out.remark("nothing was deleted")
            return NOT_FOUND
    return _proof(session, session.memory.clear())


@command(app)
def schema(session: Session) -> int:
    """Print the JSON Schema of a MemoryBlock."""
    session.out.json(memory_block_schema())
    return OK
