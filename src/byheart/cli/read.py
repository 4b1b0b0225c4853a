"""The commands that read: recall, context, recent, show, stats, topics."""

import dataclasses
from typing import Annotated, cast

import typer

from byheart.cli.output import Output, day
from byheart.cli.session import NOT_FOUND, OK, Session, command, moment
from byheart.types import EpisodeType, Hit, RecallTrace, Weights

Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag; several: with all of them.")]
Types = Annotated[list[str] | None, typer.Option("--type", help="Only of this type; several: of any of them.")]
Limit = Annotated[int, typer.Option("--limit", "-n", help="How many at most.")]

_LEAST_SHOWN = 0.0005  # what adds less is printed as 0.000

app = typer.Typer()


@command(app)
def recall(
    session: Session,
    query: Annotated[str, typer.Argument(help="A question, or the message to be answered.")],
    limit: Limit = 10,
    kind: Types = None,
    tag: Tags = None,
    after: Annotated[str | None, typer.Option(help="At or after this time (ISO 8601 with a zone).")] = None,
    before: Annotated[str | None, typer.Option(help="Before this time (ISO 8601 with a zone).")] = None,
    conversation: Annotated[str | None, typer.Option("--session", help="Only from this conversation.")] = None,
    recency_weight: Annotated[float, typer.Option(help="Recency's share in the score, 0 to 1.")] = 0.2,
    min_score: Annotated[float, typer.Option(help="Leave out what scores less, 0 to 1.")] = 0.0,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score came about.")] = False,  # noqa: FBT002
) -> int:
    """Find what bears on a question, best first."""
    result = session.memory.recall(
        query,
        limit=limit,
        types=_types(kind),
        tags=tag or (),
        after=moment("after", after),
        before=moment("before", before),
        session=conversation,
        recency_weight=recency_weight,
        min_score=min_score,
    )
    out = session.out
    if session.as_json:
        out.json(result)
        return OK
    if not result.results:
        out.remark("nothing found")
        return OK
    if not explain:
        out.hits(result.results)
        return OK
    for rank, hit in enumerate(result.results, 1):
        out.hit(rank, hit)
        explain_hit(out, hit, result.trace.weights)
        out.line()
    _explain_call(out, result.trace)
    return OK


def explain_hit(out: Output, hit: Hit, weights: Weights) -> None:
    """Print a hit's score as the sum it is, and what each signal said that added to the relevance."""
    terms = [
        (weights.relevance, hit.terms.relevance, "relevance"),
        (weights.importance, hit.terms.importance, "importance"),
        (weights.recency, hit.terms.recency, "recency"),
    ]
    total = " + ".join(f"{_short(weight, 2)} x {_short(value, 3)} {name}" for weight, value, name in terms)
    out.line(f"   {hit.score:.3f} = {total}", "dim")
    for name, value in hit.trace.signals.items():
        added = hit.trace.contributions.get(name, 0.0)
        if abs(added) < _LEAST_SHOWN:
            continue
        rank = hit.trace.ranks.get(name)
        rank_text = "" if rank is None else f", rank {rank}"
        out.line(f"   {name} {value:.3f}{rank_text}, adds {added:+.3f}", "dim")
    elsewhere = [f"{name}: {rank}" for name, rank in hit.trace.ranks.items() if name not in hit.trace.signals]
    if elsewhere:
        out.line(f"   rank in {', '.join(elsewhere)}", "dim")
    others = {
        name: value
        for name, value in hit.trace.contributions.items()
        if name not in hit.trace.signals and abs(value) >= _LEAST_SHOWN
    }
    if others:
        out.line(f"   adds: {', '.join(f'{name} {value:+.3f}' for name, value in others.items())}", "dim")
    if hit.matched_terms:
        out.line(f"   matched words: {', '.join(hit.matched_terms)}", "dim")


def _short(value: float, digits: int) -> str:
    """A share without its leading zero."""
    return f"{value:.{digits}f}".removeprefix("0")


def _explain_call(out: Output, trace: RecallTrace) -> None:
    out.line(f"asked: {' | '.join(trace.queries)}", "dim")
    for label, counts in (("searched", trace.searched), ("candidates", trace.candidates)):
        out.line(f"{label}: {', '.join(f'{name} {count}' for name, count in counts.items())}", "dim")
    timings = ", ".join(f"{name} {spent:.1f}" for name, spent in trace.timings_ms.items())
    out.line(f"milliseconds: {timings}", "dim")


@command(app)
def context(
    session: Session,
    query: Annotated[str, typer.Argument(help="The message that the model is about to answer.")],
    max_tokens: Annotated[int, typer.Option(help="How long it may be.")] = 2000,
    include_recent: Annotated[int, typer.Option(help="Also the newest episodes, this many.")] = 0,
    tag: Tags = None,
) -> int:
    """Print what a model should know before it answers."""
    text = session.memory.build_context(query, max_tokens=max_tokens, include_recent=include_recent, tags=tag or ())
    if session.as_json:
        session.out.json({"context": text})
    else:
        session.out.line(text)
    return OK


@command(app)
def recent(session: Session, limit: Limit = 10, kind: Types = None, tag: Tags = None) -> int:
    """List the newest episodes."""
    episodes = session.memory.get_recent(limit, types=_types(kind), tags=tag or ())
    if session.as_json:
        session.out.json(episodes)
        return OK
    rows = [(episode.id, day(episode.created_at), episode.type, _start(episode.text)) for episode in episodes]
    session.out.episodes(rows)
    return OK


def _start(text: str, limit: int = 200) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else f"{joined[:limit].rstrip()}…"


@command(app)
def show(
    session: Session,
    episode_id: Annotated[str, typer.Argument(help="The episode's id.", metavar="ID")],
    blocks: Annotated[bool, typer.Option("--blocks", help="As MemoryBlocks of the protocol (JSON).")] = False,  # noqa: FBT002
) -> int:
    """Show one episode."""
    episode = session.memory.get_episode(episode_id)
    if episode is None:
        session.out.remark(f"error: no episode {episode_id!r} in this scope; `byheart recent` lists what there is")
        return NOT_FOUND
    out = session.out
    if blocks:
        out.json(session.memory.export_blocks(episode_id))
    elif session.as_json:
        out.json(episode)
    else:
        out.line(f"{episode.id}  {episode.type}  {day(episode.created_at)}", "bold")
        details = {"session": episode.session or "", "tags": ", ".join(episode.tags)}
        details |= {name: str(value) for name, value in episode.metadata.items()}
        out.line("  ".join(f"{name}: {value}" for name, value in details.items() if value), "dim")
        out.rows(
            ("when", "who", "memory"),
            [(day(chunk.timestamp), chunk.speaker or "", chunk.text) for chunk in episode.chunks],
        )
    return OK


@command(app)
def stats(session: Session) -> int:
    """Count what is remembered."""
    counts = session.memory.get_stats()
    path = session.path()
    if session.as_json:
        fields = {each.name: getattr(counts, each.name) for each in dataclasses.fields(counts)}
        session.out.json({**fields, "path": None if path is None else str(path)})
        return OK
    rows = [
        ("kept in", "the process" if path is None else str(path)),
        ("episodes", f"{counts.total_episodes}"),
        ("memories", f"{counts.total_chunks}"),
        ("unique words", f"{counts.unique_words}"),
        ("oldest", day(counts.oldest_memory)),
        ("newest", day(counts.newest_memory)),
        *((kind, f"{count}") for kind, count in counts.by_type.items() if count),
        ("tags", ", ".join(session.memory.list_tags())),
    ]
    session.out.rows(("", ""), rows)
    return OK


@command(app)
def topics(session: Session, top: Annotated[int, typer.Option("--top", "-n", help="How many.")] = 10) -> int:
    """List what the memories are most about."""
    found = session.memory.extract_topics(top)
    if session.as_json:
        session.out.json(found)
    for topic in found if not session.as_json else []:
        session.out.line(topic)
    return OK


def _types(names: list[str] | None) -> tuple[EpisodeType, ...]:
    """The names as given; the facade says which is wrong."""
    return cast("tuple[EpisodeType, ...]", tuple(names or ()))
