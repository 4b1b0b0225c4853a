"""The commands that put things in, label them and take them out: remember, tag, forget."""

import sys
from typing import Annotated, cast

import typer

from byheart.cli.session import NOT_FOUND, OK, Session, command, moment
from byheart.errors import InputError
from byheart.types import EpisodeType

app = typer.Typer()
tag_app = typer.Typer(help="Add tags to an episode, or remove them.")
app.add_typer(tag_app, name="tag")


@command(app, creates=True)
def remember(
    session: Session,
    text: Annotated[str, typer.Argument(help="What to remember; `-` reads it from standard input.")],
    kind: Annotated[str, typer.Option("--type", help="conversation, document, fact, event or custom.")] = "custom",
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be given several times.")] = None,
    importance: Annotated[float, typer.Option(help="From 0 to 1.")] = 0.5,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    conversation: Annotated[str | None, typer.Option("--session", help="The conversation it belongs to.")] = None,
    key: Annotated[str | None, typer.Option(help="The same key is stored once, however often it is sent.")] = None,
    timestamp: Annotated[str | None, typer.Option(help="When it happened, in ISO 8601 with a zone.")] = None,
    ttl: Annotated[float | None, typer.Option(help="Seconds until it is forgotten; 0 for never.")] = None,
) -> int:
    """Remember a text."""
    content = _text(text)
    episode = session.memory.remember(
        content,
        type=cast("EpisodeType", kind),
        tags=tag or (),
        importance=importance,
        speaker=speaker,
        session=conversation,
        key=key,
        timestamp=moment("timestamp", timestamp),
        ttl=ttl,
    )
    if session.as_json:
        session.out.json(episode)
    else:
        count = episode.chunk_count
        session.out.line(f"remembered {episode.id} ({count} {'memory' if count == 1 else 'memories'})")
    return OK


def _text(text: str) -> str:
    """The argument, or standard input for `-`."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("text", f"standard input is not UTF-8 at byte {error.start}", "convert it to UTF-8") from None


@command(app)
def forget(
    session: Session,
    episode_ids: Annotated[list[str], typer.Argument(help="The episodes' ids.", metavar="ID...")],
) -> int:
    """Forget episodes.

    `byheart purge` then proves that no byte of them is left.
    """
    forgotten = {episode_id: session.memory.forget(episode_id) for episode_id in episode_ids}
    if session.as_json:
        session.out.json({"forgotten": forgotten})
    for episode_id, found in forgotten.items():
        if not found:
            _not_found(session, episode_id)
        elif not session.as_json:
            session.out.line(f"forgot {episode_id}")
    return OK if all(forgotten.values()) else NOT_FOUND


@command(tag_app, "add")
def add_tags(
    session: Session,
    episode_id: Annotated[str, typer.Argument(help="The episode's id.", metavar="ID")],
    tags: Annotated[list[str], typer.Argument(help="The tags to add.")],
) -> int:
    """Add tags to an episode."""
    return _tagged(session, episode_id, found=session.memory.add_tags(episode_id, tags))


@command(tag_app, "remove")
def remove_tags(
    session: Session,
    episode_id: Annotated[str, typer.Argument(help="The episode's id.", metavar="ID")],
    tags: Annotated[list[str], typer.Argument(help="The tags to remove.")],
) -> int:
    """Remove tags from an episode."""
    return _tagged(session, episode_id, found=session.memory.remove_tags(episode_id, tags))


def _tagged(session: Session, episode_id: str, *, found: bool) -> int:
    episode = session.memory.get_episode(episode_id) if found else None
    if episode is None:
        return _not_found(session, episode_id)
    if session.as_json:
        session.out.json({"id": episode.id, "tags": episode.tags})
    else:
        session.out.line(f"{episode.id}: {', '.join(episode.tags) or 'no tags'}")
    return OK


def _not_found(session: Session, episode_id: str) -> int:
    session.out.remark(f"error: no episode {episode_id!r} in this scope; `byheart recent` lists what there is")
    return NOT_FOUND
