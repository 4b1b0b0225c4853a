"""The command that shows what byheart does, on a conversation that comes with it."""

import shlex
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from byheart.cli.output import Output
from byheart.cli.read import explain_hit
from byheart.cli.session import OK, Session, command, open_memory
from byheart.sample import SampleConversation, SampleQuestion, load_conversation, load_questions
from byheart.types import NewEpisode, Part, RecallResult

if TYPE_CHECKING:
    from byheart.sync import Memory

_AGENT = "demo"
_SHOWN = 3


app = typer.Typer()


def episodes_of(conversation: SampleConversation) -> list[NewEpisode]:
    """The sample conversation as episodes, one a session, with keys, so that a kept demo can be run again."""
    return [
        NewEpisode(
            parts=tuple(
                Part(message.content, message.name, message.role, message.timestamp) for message in each.messages
            ),
            tags=("sample",),
            session=each.id,
            key=f"sample:{each.id}",
            timestamp=each.date,
        )
        for each in conversation.sessions
    ]


@command(app)
def demo(
    session: Session,
    keep: Annotated[Path | None, typer.Option(help="Keep the memory in this file.")] = None,
    no_pause: Annotated[bool, typer.Option("--no-pause", help="Do not wait between questions.")] = False,  # noqa: FBT002
) -> int:
    """Try it on a sample conversation.

    Remembers it, asks it eight questions, and shows why each answer was found.
    """
    out = session.out
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="byheart-demo-")))
        path = (keep or folder / "demo.db").absolute()
        url = f"sqlite:///{path.as_posix()}"
        memory = stack.enter_context(open_memory(_AGENT, url))
        added = _fill(out, memory)
        pause = not no_pause and not out.as_json and out.terminal and sys.stdin.isatty()
        answers = [_ask(out, memory, question, pause=pause) for question in load_questions()]
        last = load_questions()[-1].question
        context = memory.build_context(last, max_tokens=400)
    if out.as_json:
        out.json({"memories_added": added, "url": url if keep else None, "answers": answers, "context": context})
        return OK
    found = sum(answer["rank"] is not None for answer in answers)
    out.line(f"{found} of {len(answers)} answers are among the first {_SHOWN} memories of their question.\n", "bold")
    out.line(f"What a model would be given for {last!r}:\n", "bold")
    out.line(context)
    _say_next(out, url if keep else None)
    return OK


def _fill(out: Output, memory: "Memory") -> int:
    conversation = load_conversation()
    started = time.monotonic()
    report = memory.remember_many(episodes_of(conversation))
    if not out.as_json:
        count = memory.get_stats().total_chunks
        seconds = time.monotonic() - started
        out.line(
            f"{conversation.title}: {count} memories of {len(conversation.sessions)} sessions, {seconds:.1f} s\n",
            "bold",
        )
    return report.chunks_added


def _ask(out: Output, memory: "Memory", question: SampleQuestion, *, pause: bool) -> dict[str, object]:
    result = memory.recall(question.question, limit=_SHOWN)
    rank = next((n for n, hit in enumerate(result.results, 1) if question.expect in hit.chunk.text), None)
    if not out.as_json:
        _show(out, question, result, rank)
        if pause:
            input("Enter for the next question ")
    hits = [{"score": hit.score, "speaker": hit.chunk.speaker, "text": hit.chunk.text} for hit in result.results]
    return {"question": question.question, "about": question.about, "rank": rank, "hits": hits}


def _show(out: Output, question: SampleQuestion, result: RecallResult, rank: int | None) -> None:
    out.line(f"{question.question}  ({question.about})", "bold cyan")
    out.hits(result.results)
    if result.results:
        if rank and rank > 1:
            out.line(f"   number {rank}, which holds the answer:", "dim")
        explain_hit(out, result.results[(rank or 1) - 1], result.trace.weights)
    spent = sum(result.trace.timings_ms.values())
    where = f"the answer is number {rank}" if rank else f"the answer is not among the first {_SHOWN}"
    out.line(f"   {where}; {spent:.0f} ms", "green" if rank else "red")
    if rank and "changed" in question.about and is_behind_older(result, rank):
        out.line("   an older decision ranks before it; corrections are to come", "yellow")
    out.line()


def is_behind_older(result: RecallResult, rank: int) -> bool:
    """Whether a memory that is older than the one at `rank`, from 1, stands before it."""
    answer = result.results[rank - 1].chunk
    return any(hit.chunk.timestamp < answer.timestamp for hit in result.results[: rank - 1])


def program(on_path: str | None, started_as: str) -> str:
    """How a shell calls byheart: by its name if that is on the path, else as this run was called.

    Args:
        on_path: where the shell finds `byheart`, if it does.
        started_as: the first word of this run's command line.
    """
    if on_path is not None:
        return "byheart"
    if Path(started_as).stem == "byheart":
        return shlex.quote(started_as)
    return f"{shlex.quote(sys.executable)} -m byheart.cli"


def _say_next(out: Output, url: str | None) -> None:
    name = program(shutil.which("byheart"), sys.argv[0])
    out.line("\nTry next:", "bold")
    if url is None:
        lines = [
            "demo --keep demo.db",
            'remember "The spare key is under the blue pot."',
            'recall "Where is the key?"',
            "ingest --dry-run .",
        ]
    else:
        where = f"--agent {_AGENT} --url {shlex.quote(url)}"
        lines = [
            f'recall "When does Harbourlight go live?" --explain {where}',
            f'context "What should I get Pilar for her birthday?" {where}',
            f'remember "Mara is allergic to walnuts." --type fact {where}',
            f"recent {where}",
            f"stats {where}",
        ]
    for line in lines:
        out.line(f"  {name} {line}", whole=True)
