"""The command line: `python -m benchmarks quality | speed | crash | processes`."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import anyio
import typer
from rich.console import Console

from benchmarks import durability, quality, speed
from benchmarks.datasets import LOADERS, locomo_plus
from byheart.config import load_settings
from byheart.engine import embedder_for

app = typer.Typer(add_completion=False, help=__doc__, no_args_is_help=True)
Dataset = StrEnum("Dataset", list(LOADERS))
Output = Annotated[Path | None, typer.Option("--json", help="Write the report to this file.")]


def _write(report: dict[str, object], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@app.command("quality")
def quality_command(
    dataset: Dataset,
    data: Annotated[Path, typer.Option(help="The data set: a file or folder in the form of its own release.")],
    output: Output = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first cases.")] = None,
    locomo: Annotated[Path | None, typer.Option(help="LoCoMo's conversations, for locomo_plus.")] = None,
    systems: Annotated[str, typer.Option(help="Which systems, separated by commas.")] = ",".join(quality.SYSTEMS),
) -> None:
    """Measure retrieval against the labels of a data set."""
    name = str(dataset)
    cases = (locomo_plus(data, locomo) if name == "locomo_plus" else LOADERS[name](data))[:limit]
    chosen = systems.split(",")
    if unknown := set(chosen) - set(quality.SYSTEMS):
        raise typer.BadParameter(f"no such system: {', '.join(sorted(unknown))}", param_hint="--systems")
    embedder = embedder_for(load_settings())

    async def run() -> quality.Report:
        return await quality.measure(name, cases, embedder, systems=chosen)

    report = anyio.run(run)
    console = Console()
    for table in report.tables():
        console.print(table)
    _write(report.as_json(), output)


@app.command("speed")
def speed_command(
    rows: Annotated[int, typer.Option(min=20, help="Memories in all.")] = 10_000,
    agents: Annotated[int, typer.Option(min=1, help="Agents that they are spread over.")] = 1,
    output: Output = None,
) -> None:
    """Measure recall, remember, ingest, exactness and size on made-up memories."""
    model = embedder_for(load_settings())

    async def run() -> dict[str, object]:
        return await speed.measure(rows, agents, model)

    report = anyio.run(run)
    print(json.dumps(report, indent=2))
    _write(report, output)


@app.command("crash")
def crash_command(kills: Annotated[int, typer.Option(min=1)] = 200, output: Output = None) -> None:
    """Kill writers at random moments; exit 1 where something acknowledged is missing or a check fails."""
    _conclude(durability.crash(kills), output)


@app.command("processes")
def processes_command(seconds: Annotated[float, typer.Option(min=0.1)] = 20, output: Output = None) -> None:
    """Two processes write and two recall, in one file; exit 1 where anything is lost or fails."""
    _conclude(durability.processes(seconds), output)


def _conclude(report: dict[str, object], output: Path | None) -> None:
    print(json.dumps(report, indent=2))
    _write(report, output)
    if report["lost"] or report["failed_checks"] or report.get("errors"):
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
