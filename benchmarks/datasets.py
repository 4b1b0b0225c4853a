"""Loaders: each data set, in the form of its own release, to cases of units and questions.

A path may be a file or a folder. Questions without gold (abstentions, missing evidence) are left out, for a retrieval
metric says nothing about them. Texts are taken as they are; the exceptions are named in each loader's docstring.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from byheart.errors import ImportFormatError

#: When a question is asked that has no date of its own: so long after the last unit.
ASKED_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Unit:
    """One turn or message that goes into memory.

    Attributes:
        id: unique inside its case.
        session: the conversation it belongs to, in the words of the data set.
        answers: the label says that the answer stands in this very turn (LongMemEval's `has_answer`).
    """

    id: str
    text: str
    speaker: str | None
    role: str | None
    timestamp: datetime | None
    session: str
    answers: bool = False

    @property
    def spoken(self) -> str:
        """`speaker: text`, as the baselines see it."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True)
class Question:
    """One query with the items that answer it.

    Attributes:
        groups: the rows of the table it counts in; `all` is always one.
        gold: ids of units; of sessions where the case's unit is the session.
        asked_at: the time that the question is asked, `now` for a recall; None: any.
    """

    id: str
    text: str
    groups: tuple[str, ...]
    gold: frozenset[str]
    asked_at: datetime | None


@dataclass(frozen=True)
class Case:
    """One memory to fill and the questions to ask of it.

    Attributes:
        unit: what is ranked and labelled: `turn`, `message` or `session`.
        units: in the order in which they were said; turns even where the session is the unit.
    """

    id: str
    unit: str
    units: tuple[Unit, ...]
    questions: tuple[Question, ...]

    @cached_property
    def item_of(self) -> Mapping[str, str]:
        """For each unit's id, the id of the item it stands for in a ranking: its own, or its session's."""
        return {unit.id: unit.session if self.unit == "session" else unit.id for unit in self.units}

    @cached_property
    def passages(self) -> Mapping[str, tuple[str, ...]]:
        """For each item, the texts of which one must be in a context for the item to be covered.

        A turn's own text; of a session its labelled answer turns, or any of its turns where none is labelled.
        """
        every: dict[str, list[str]] = {}
        labelled: dict[str, list[str]] = {}
        for unit in self.units:
            every.setdefault(self.item_of[unit.id], []).append(unit.text)
            if unit.answers:
                labelled.setdefault(self.item_of[unit.id], []).append(unit.text)
        return {item: tuple(labelled.get(item, texts)) for item, texts in every.items()}

    def ranking(self, unit_ids: Iterable[str]) -> list[str]:
        """Units, best first, as items, best first: an item stands where its best unit stands."""
        return list(dict.fromkeys(self.item_of[unit_id] for unit_id in unit_ids if unit_id in self.item_of))

    def sessions(self) -> Iterator[tuple[str, tuple[Unit, ...]]]:
        """The sessions in order, each with its units."""
        grouped: dict[str, list[Unit]] = {}
        for unit in self.units:
            grouped.setdefault(unit.session, []).append(unit)
        for session, units in grouped.items():
            yield session, tuple(units)


def _load(path: Path) -> Any:  # noqa: ANN401 - JSON is anything
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def _find(path: Path, fits: Callable[[Any], bool], what: str) -> Any:  # noqa: ANN401
    """The content of `path`, or of the first JSON file (by depth, then name) under it that `fits`."""
    if path.is_file():
        content = _load(path)
        if fits(content):
            return content
    else:
        files = chain(path.rglob("*.json"), path.rglob("*.json.gz"))
        for file in sorted(files, key=lambda found: (len(found.parts), found.name)):
            if fits(content := _load(file)):
                return content
    raise ImportFormatError(f"{path}: holds no {what}")


def _first_has(*keys: str) -> Callable[[Any], bool]:
    def fits(content: Any) -> bool:  # noqa: ANN401
        return isinstance(content, list) and bool(content) and all(key in content[0] for key in keys)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    return fits


def _utc(text: str, *formats: str) -> datetime | None:
    for form in formats:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _after(units: Sequence[Unit]) -> datetime | None:
    times = [unit.timestamp for unit in units if unit.timestamp]
    return max(times) + ASKED_AFTER if times else None


# LoCoMo ---------------------------------------------------------------------------------------------------------------

_DIALOGUE_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")


def normal_evidence(evidence: Iterable[str]) -> frozenset[str]:
    """Dialogue ids out of evidence lists, odd ones too: `D8:6; D9:17`, `D:11:26`, `D30:05`; what is none is dropped."""
    found = (match for entry in evidence for match in _DIALOGUE_ID.finditer(entry))
    return frozenset(f"D{int(match[1])}:{int(match[2])}" for match in found)


def _locomo_units(conversation: Mapping[str, Any]) -> list[Unit]:
    units: list[Unit] = []
    numbers = sorted(int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        when = _utc(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in conversation[f"session_{number}"]:
            caption = turn.get("blip_caption")
            text = f"{turn['text']} [image: {caption}]".strip() if caption else turn["text"]
            unit_id = next(iter(normal_evidence([turn["dia_id"]])), turn["dia_id"])
            units.append(Unit(unit_id, text, turn["speaker"], None, when, f"session_{number}"))
    return units


def _locomo_case(sample: Mapping[str, Any]) -> Case:
    units = _locomo_units(sample["conversation"])
    known = {unit.id for unit in units}
    asked_at = _after(units)
    questions: list[Question] = []
    for number, entry in enumerate(sample["qa"]):
        category = int(entry["category"])
        groups = ("all", str(category)) if category == 5 else ("all", "1-4", str(category))
        if gold := normal_evidence(entry.get("evidence") or ()) & known:
            questions.append(Question(f"q{number}", entry["question"], groups, gold, asked_at))
    return Case(sample["sample_id"], "turn", tuple(units), tuple(questions))


def locomo(path: Path | str) -> list[Case]:
    """LoCoMo: `locomo10.json`, or a folder that holds it; one case a conversation, the unit is the turn.

    A turn's text is its text and, where it shares a picture, ` [image: CAPTION]` with the release's `blip_caption`.
    All turns of a session carry the session's time. Gold is `evidence`, with odd ids put right (`normal_evidence`); ids
    that name no turn are dropped. Groups: `all`, `1-4` (without the adversarial ones), `1` to `5`.
    """
    return [_locomo_case(sample) for sample in _find(Path(path), _first_has("conversation", "qa"), "LoCoMo file")]


# LoCoMo-Plus ----------------------------------------------------------------------------------------------------------

_LINE = re.compile(r"(?:^|\\n|\s)\s*([AB]):\s+")
_NUMBERS = {
    word: number
    for number, words in enumerate(
        ("", "a an one", "two couple", "three few", "four", "five several", "six", "seven", "eight", "nine", "ten")
    )
    for word in words.split()
} | {"eleven": 11, "twelve": 12}
_GAP_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_GAP = re.compile(r"(?:(\d+)|([a-z]+))\s+(?:of\s+)?(day|week|month|year)s?")


def gap(text: str) -> timedelta:
    """How long ago `six weeks later` was; months of 30 and years of 365 days, a few = 3, several = 5, else 14 days."""
    match = _GAP.search(text.lower())
    if not match:
        return timedelta(days=14)
    number = int(match[1]) if match[1] else _NUMBERS.get(match[2], 1)
    return timedelta(days=number * _GAP_DAYS[match[3]])


def _lines(dialogue: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The (name, text) pairs of a dialogue; the release writes some line breaks as a space or as backslash and n."""
    pieces = _LINE.split(dialogue)
    return [(names[letter], text.strip()) for letter, text in zip(pieces[1::2], pieces[2::2], strict=True)]


def _stitched(case: Case, names: Mapping[str, str], number: int, item: Mapping[str, Any]) -> Case:
    asked_at = _after(case.units) or datetime(2024, 1, 1, tzinfo=UTC)
    when = asked_at - gap(item["time_gap"])
    cue = tuple(
        Unit(f"P{number}:{line}", text, speaker, None, when, f"cue_{number}")
        for line, (speaker, text) in enumerate(_lines(item["cue_dialogue"], names), 1)
    )
    sessions = sorted([*(units for _, units in case.sessions()), cue], key=lambda units: units[0].timestamp or asked_at)
    trigger = "\n".join(f"{speaker}: {text}" for speaker, text in _lines(item["trigger_query"], names))
    groups = ("all", str(item.get("relation_type", "other")))
    question = Question(f"p{number}", trigger, groups, frozenset(unit.id for unit in cue), asked_at)
    return replace(case, id=f"{case.id}+{number}", units=tuple(chain.from_iterable(sessions)), questions=(question,))


def _beside(path: Path) -> Path:
    """Where LoCoMo lies beside LoCoMo-Plus: a file or folder whose name starts with `locomo` and has no `plus`."""
    for folder in (path, path.parent, path.parent.parent) if path.is_dir() else (path.parent, path.parent.parent):
        for found in sorted(folder.glob("locomo*")):
            if "plus" not in found.name.lower() and (found.is_dir() or found.suffix == ".json"):
                return found
    raise ImportFormatError(f"{path}: no LoCoMo conversations beside it; name them with --locomo PATH")


def locomo_plus(path: Path | str, locomo_path: Path | str | None = None) -> list[Case]:
    """LoCoMo-Plus: its list of cues and triggers, stitched into the conversations of LoCoMo (default: found beside it).

    Each item is a case of its own: its cue goes into conversation k mod (number of conversations) as a session, without
    the other items' cues. The trigger is asked one day after the last session; the cue's session lies `time_gap` before
    that. The speakers A and B become the conversation's two, in the trigger too, asked as `NAME: text`. Gold: every
    turn of the cue.
    """
    path = Path(path)
    items = _find(path, _first_has("cue_dialogue", "trigger_query"), "LoCoMo-Plus file")
    source = Path(locomo_path) if locomo_path else _beside(path)
    samples = _find(source, _first_has("conversation", "qa"), "LoCoMo file")
    conversations = [_locomo_case(sample) for sample in samples]
    cases: list[Case] = []
    for number, item in enumerate(items):
        place = number % len(samples)
        spoken = samples[place]["conversation"]
        names = {"A": spoken["speaker_a"], "B": spoken["speaker_b"]}
        cases.append(_stitched(conversations[place], names, number, item))
    return cases


# BEAM -----------------------------------------------------------------------------------------------------------------

_INDEX_MARK = re.compile(r"\s*->->[\d\s,]*$")


def _batches(content: Any, plan: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:  # noqa: ANN401
    """(session, batch) pairs; in the 10M chats batches stand below plans."""
    for entry in content:
        if "turns" in entry:
            yield f"{plan}batch_{entry['batch_number']}", entry
        else:
            for name, batches in entry.items():
                yield from _batches(batches, f"{name}/")


def _beam_units(content: Any) -> list[Unit]:  # noqa: ANN401
    units: list[Unit] = []
    when: datetime | None = None
    for session, batch in _batches(content):
        for message in chain.from_iterable(batch["turns"]):
            anchor = message.get("time_anchor") or batch.get("time_anchor")
            when = (_utc(anchor, "%B-%d-%Y", "%Y-%m-%d") if anchor else None) or when
            text = _INDEX_MARK.sub("", message["content"]).strip()
            if text:
                role = message["role"]
                units.append(Unit(str(message["id"]), text, role, role, when, session))
    return units


def _flat(value: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, Mapping):
        value = list(value.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, list):
        yield from chain.from_iterable(map(_flat, value))  # pyright: ignore[reportUnknownArgumentType]
    elif value is not None:
        yield str(value)


def beam(path: Path | str) -> list[Case]:
    """BEAM: a chat's folder, or a folder of them (`100K`, or its parent); one case a chat, the unit is the message.

    A chat's folder holds `chat.json` and, in it or below it, `probing_questions.json`. The mark ` ->-> 1,25` after user
    messages is cut off; `time_anchor` is carried forward to the messages after it; a batch is a session. Gold is
    `source_chat_ids`, a list or lists by name. Groups: `all` and the ability.
    """
    cases: list[Case] = []
    root = Path(path)
    for chat in sorted(root.rglob("chat.json"), key=lambda file: [part.zfill(8) for part in file.parts]):
        probing = next(iter(sorted(chat.parent.rglob("probing_questions.json"))), None)
        if probing is None:
            raise ImportFormatError(f"{chat.parent}: has a chat.json and no probing_questions.json")
        units = _beam_units(_load(chat))
        known = {unit.id for unit in units}
        questions: list[Question] = []
        for ability, entries in _load(probing).items():
            for number, entry in enumerate(entries):
                if gold := frozenset(_flat(entry.get("source_chat_ids"))) & known:
                    groups = ("all", ability)
                    questions.append(Question(f"{ability}{number}", entry["question"], groups, gold, _after(units)))
        cases.append(Case("/".join(chat.parent.parts[-2:]), "message", tuple(units), tuple(questions)))
    if not cases:
        raise ImportFormatError(f"{root}: holds no BEAM chat folder (chat.json with probing_questions.json)")
    return cases


# QMSum ----------------------------------------------------------------------------------------------------------------


def _qmsum_files(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if path.is_file():
        files = [path]
    else:
        files = sorted(path.glob("*.jsonl")) or sorted(path.glob("*.json")) or sorted(path.rglob("*.jsonl"))
    for file in files:
        if file.suffix == ".jsonl":
            lines = file.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(line for line in lines if line.strip()):
                yield f"{file.stem}-{number}", json.loads(line)
        else:
            yield file.stem, _load(file)


def _qmsum_case(name: str, meeting: Mapping[str, Any]) -> Case:
    turns = meeting["meeting_transcripts"]
    units = tuple(
        Unit(str(number), turn["content"], turn["speaker"], None, None, "meeting")
        for number, turn in enumerate(turns)
        if turn["content"].strip()
    )
    known = {unit.id for unit in units}
    questions: list[Question] = []
    for number, entry in enumerate(meeting["specific_query_list"]):
        spans = [range(int(first), int(last) + 1) for first, last in entry["relevant_text_span"]]
        if gold := frozenset(str(turn) for turn in chain.from_iterable(spans)) & known:
            questions.append(Question(f"q{number}", entry["query"], ("all",), gold, None))
    return Case(str(meeting.get("meeting_id", name)), "turn", units, tuple(questions))


def qmsum(path: Path | str) -> list[Case]:
    """QMSum: a `.jsonl` of meetings, one meeting's `.json`, or a folder of either; one case a meeting, unit = turn.

    Specific queries alone; gold is every turn inside their `relevant_text_span`s, both ends included. The same meeting
    in two files (the release lists each under its domain and under ALL) counts once. Meetings have no dates.
    """
    cases: dict[str, Case] = {}
    for name, meeting in _qmsum_files(Path(path)):
        if "meeting_transcripts" in meeting:
            cases.setdefault(json.dumps(meeting["meeting_transcripts"]), _qmsum_case(name, meeting))
    if not cases:
        raise ImportFormatError(f"{path}: holds no QMSum meetings")
    return list(cases.values())


# LongMemEval ----------------------------------------------------------------------------------------------------------


def _longmemeval_time(text: str) -> datetime | None:
    bare = re.sub(r"\s*\([^)]*\)", "", text)
    return _utc(bare, "%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y-%m-%d", "%Y-%m-%d %H:%M")


def _longmemeval_case(entry: Mapping[str, Any]) -> Case:
    haystack = zip(entry["haystack_session_ids"], entry["haystack_dates"], entry["haystack_sessions"], strict=True)
    dated = [(_longmemeval_time(date), session, turns) for session, date, turns in haystack]
    dated.sort(key=lambda session: session[0] or datetime.min.replace(tzinfo=UTC))
    units = tuple(
        Unit(f"{session}:{place}:{number}", turn["content"], turn["role"], turn["role"], when, session,
             bool(turn.get("has_answer")))
        for place, (when, session, turns) in enumerate(dated)
        for number, turn in enumerate(turns)
        if turn["content"].strip()
    )  # fmt: skip
    gold = frozenset(entry["answer_session_ids"]) & {unit.session for unit in units}
    abstains = entry["question_id"].endswith("_abs")
    groups = ("all", entry["question_type"])
    asked_at = _longmemeval_time(entry["question_date"])
    questions = (Question(entry["question_id"], entry["question"], groups, gold, asked_at),)
    return Case(entry["question_id"], "session", units, questions if gold and not abstains else ())


def longmemeval(path: Path | str) -> list[Case]:
    """LongMemEval: its JSON (also `.json.gz`), or a folder with one; one case a question, the unit is the session.

    Turns are stored, sessions are ranked: a session stands where its best turn stands. Gold is `answer_session_ids`.
    Cases whose question is an abstention (`_abs`) are left out. Groups: `all` and the question's type.
    """
    entries = _find(Path(path), _first_has("haystack_sessions", "question_id"), "LongMemEval file")
    return [case for case in map(_longmemeval_case, entries) if case.questions]


#: The loaders by the names that the command line uses.
LOADERS: Mapping[str, Callable[[Path | str], list[Case]]] = {
    "locomo": locomo,
    "locomo_plus": locomo_plus,
    "beam": beam,
    "qmsum": qmsum,
    "longmemeval": longmemeval,
}
