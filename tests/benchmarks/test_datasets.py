"""The loaders, on small files of our own text in each release's form."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.datasets import Case, beam, gap, locomo, locomo_plus, longmemeval, normal_evidence, qmsum
from byheart.errors import ImportFormatError


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def conversation(name: str = "conv-1") -> dict[str, object]:
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Nils",
            "speaker_b": "Ada",
            "session_10_date_time": "9:05 am on 3 June, 2024",
            "session_10": [{"speaker": "Ada", "dia_id": "D10:1", "text": "The kiln arrived."}],
            "session_2_date_time": "12:30 am on 1 May, 2024",
            "session_2": [
                {"speaker": "Nils", "dia_id": "D2:1", "text": "I planted tulips.", "blip_caption": "a red bed"},
                {"speaker": "Ada", "dia_id": "D2:2", "text": "Lovely!"},
            ],
            "session_11_date_time": "9:05 am on 4 June, 2024",
        },
        "qa": [
            {"question": "What did Nils plant?", "answer": "tulips", "category": 4, "evidence": ["D2:1"]},
            {"question": "What came?", "answer": "kiln", "category": 1, "evidence": ["D:10:1; D2:02", "D"]},
            {"question": "Who knows?", "answer": 1, "category": 3, "evidence": []},
            {"question": "Beyond?", "answer": 1, "category": 2, "evidence": ["D99:1"]},
            {"question": "A trap?", "adversarial_answer": "x", "category": 5, "evidence": ["D2:2"]},
        ],
    }


def test_locomo_sessions_in_order_with_captions_times_and_odd_evidence(tmp_path: Path) -> None:
    write(tmp_path / "data" / "personas.json", {"not": "the file"})
    write(tmp_path / "data" / "locomo10.json", [conversation()])
    [case] = locomo(tmp_path)
    assert [unit.id for unit in case.units] == ["D2:1", "D2:2", "D10:1"]
    assert case.units[0].text == "I planted tulips. [image: a red bed]"
    assert case.units[0].spoken.startswith("Nils: I planted")
    assert case.units[0].timestamp == datetime(2024, 5, 1, 0, 30, tzinfo=UTC)
    assert {question.text: (set(question.gold), question.groups) for question in case.questions} == {
        "What did Nils plant?": ({"D2:1"}, ("all", "1-4", "4")),
        "What came?": ({"D10:1", "D2:2"}, ("all", "1-4", "1")),
        "A trap?": ({"D2:2"}, ("all", "5")),
    }
    assert case.questions[0].asked_at == datetime(2024, 6, 4, 9, 5, tzinfo=UTC)
    assert locomo(tmp_path / "data" / "locomo10.json") == [case]


def test_evidence_in_the_odd_forms_of_the_release() -> None:
    assert normal_evidence(["D8:6; D9:17"]) == {"D8:6", "D9:17"}
    assert normal_evidence(["D:11:26", "D30:05", "D"]) == {"D11:26", "D30:5"}
    assert normal_evidence(["D9:1 D4:4 D4:6"]) == {"D9:1", "D4:4", "D4:6"}


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 60))))
def test_evidence_in_good_form_stays_as_it_is(pairs: list[tuple[int, int]]) -> None:
    ids = [f"D{session}:{turn}" for session, turn in pairs]
    assert normal_evidence(ids) == set(ids)
    assert normal_evidence(["; ".join(ids)]) == set(ids)


PLUS = [
    {
        "relation_type": "causal",
        "cue_dialogue": "A: I fell off a ladder.\nB: A scare like that stays with you.",
        "trigger_query": "A: I asked a painter to do the ceiling.",
        "time_gap": "two weeks later",
    },
    {
        "relation_type": "goal",
        "cue_dialogue": "A: I am saving for a boat; B-movies are all I watch. B: Good luck.",
        "trigger_query": "A: I skipped the restaurant.",
        "time_gap": "about three months later",
    },
    {
        "relation_type": "goal",
        "cue_dialogue": "A: I run.\\nB: Nice.",
        "trigger_query": "A: New shoes.",
        "time_gap": "a day later",
    },
]


def test_locomo_plus_is_stitched_into_the_conversations_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "locomo" / "locomo10.json", [conversation("conv-1"), conversation("conv-2")])
    write(tmp_path / "locomo_plus" / "locomo_plus.json", PLUS)
    first, second, third = cases = locomo_plus(tmp_path / "locomo_plus")
    assert [case.id for case in cases] == ["conv-1+0", "conv-2+1", "conv-1+2"]
    assert [question.text for case in (first, third) for question in case.questions] == [
        "Nils: I asked a painter to do the ceiling.",
        "Nils: New shoes.",
    ]
    assert second.questions[0].gold == {"P1:1", "P1:2"}
    units = {unit.id: unit for case in cases for unit in case.units}
    assert units["P0:2"].spoken == "Ada: A scare like that stays with you."
    assert units["P1:1"].text == "I am saving for a boat; B-movies are all I watch."
    assert units["P2:2"].text == "Nice."
    asked_at = datetime(2024, 6, 4, 9, 5, tzinfo=UTC)
    assert {question.asked_at for case in cases for question in case.questions} == {asked_at}
    assert units["P0:1"].timestamp == asked_at - timedelta(days=14)
    # Sessions stand in the order of their times: the cue of May 21 between May 1 and June 3; no other item's cue.
    assert [session for session, _ in first.sessions()] == ["session_2", "cue_0", "session_10"]
    assert locomo_plus(tmp_path / "locomo_plus" / "locomo_plus.json") == cases


def test_locomo_plus_without_locomo_says_what_to_do(tmp_path: Path) -> None:
    file = write(tmp_path / "a" / "b" / "locomo_plus.json", PLUS)
    with pytest.raises(ImportFormatError, match="--locomo"):
        locomo_plus(file)
    elsewhere = write(tmp_path / "elsewhere" / "l.json", [conversation()])
    assert len(locomo_plus(file, elsewhere)) == 3


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("two weeks later", 14),
        ("about a month later", 30),
        ("six months after it ended", 180),
        ("a year after", 365),
        ("a few weeks later", 21),
        ("several years later", 1825),
        ("10 days later", 10),
        ("later", 14),
    ],
)
def test_gaps_in_words(text: str, days: int) -> None:
    assert gap(text) == timedelta(days=days)


BEAM_CHAT = [
    {
        "batch_number": 1,
        "time_anchor": None,
        "turns": [
            [
                {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I keep bees. ->-> 1,25"},
                {"role": "assistant", "id": 1, "content": "Bees are busy."},
            ],
            [{"role": "user", "id": 2, "content": "Two hives -> one. ->-> 1,2"}],
        ],
    },
    {"batch_number": 2, "turns": [[{"role": "user", "id": 3, "time_anchor": "April-1-2024", "content": "Honey!"}]]},
]
BEAM_QUESTIONS = {
    "abstention": [{"question": "What about wasps?"}],
    "event_ordering": [{"question": "In which order?", "source_chat_ids": [0, 3]}],
    "knowledge_update": [{"question": "How many?", "source_chat_ids": {"old": [0], "new": [[2]], "none": None}}],
}


def test_beam_messages_gold_in_lists_and_dicts_and_dates_carried_forward(tmp_path: Path) -> None:
    for size, chat in (("100K", "2"), ("100K", "10")):
        write(tmp_path / size / chat / "chat.json", BEAM_CHAT)
    write(tmp_path / "100K" / "2" / "probing_questions.json", BEAM_QUESTIONS)
    write(tmp_path / "100K" / "10" / "probing_questions" / "probing_questions.json", BEAM_QUESTIONS)
    cases = beam(tmp_path)
    assert [case.id for case in cases] == ["100K/2", "100K/10"]
    assert [unit.text for unit in cases[0].units] == ["I keep bees.", "Bees are busy.", "Two hives -> one.", "Honey!"]
    assert [unit.timestamp and unit.timestamp.month for unit in cases[0].units] == [3, 3, 3, 4]
    assert [unit.session for unit in cases[0].units] == ["batch_1"] * 3 + ["batch_2"]
    assert [set(question.gold) for question in cases[0].questions] == [{"0", "3"}, {"0", "2"}]
    assert cases[0].questions[1].groups == ("all", "knowledge_update")
    assert beam(tmp_path / "100K" / "2") == cases[:1]


def test_beam_plans_of_the_largest_chats(tmp_path: Path) -> None:
    write(tmp_path / "chat.json", [{"plan-1": BEAM_CHAT}])
    write(tmp_path / "probing_questions.json", BEAM_QUESTIONS)
    [case] = beam(tmp_path)
    assert case.units[-1].session == "plan-1/batch_2"


MEETING: dict[str, object] = {
    "topic_list": [],
    "general_query_list": [{"query": "Summarise", "answer": "x"}],
    "specific_query_list": [
        {"query": "What of the remote?", "answer": "x", "relevant_text_span": [["0", "1"], ["3", "3"]]},
        {"query": "Nothing?", "answer": "x", "relevant_text_span": []},
    ],
    "meeting_transcripts": [{"speaker": f"P{n}", "content": f"Line {n} ."} for n in range(4)],
}


def test_qmsum_spans_hold_both_ends_and_a_meeting_counts_once(tmp_path: Path) -> None:
    (tmp_path / "val.jsonl").write_text(json.dumps(MEETING) + "\n\n" + json.dumps(MEETING), encoding="utf-8")
    [case] = qmsum(tmp_path)
    assert [question.gold for question in case.questions] == [{"0", "1", "3"}]
    assert qmsum(tmp_path / "val.jsonl") == [case]
    write(tmp_path / "val" / "ES1.json", MEETING)
    [by_file] = qmsum(tmp_path / "val")
    assert by_file.id == "ES1"
    assert by_file.units == case.units


def longmemeval_entry(question_id: str) -> dict[str, object]:
    return {
        "question_id": question_id,
        "question_type": "multi-session",
        "question": "Where is my bike?",
        "question_date": "2023/05/30 (Tue) 08:08",
        "answer_session_ids": ["answer_1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/04/20 (Thu) 02:21"],
        "haystack_session_ids": ["answer_1", "filler"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "My bike is in the shed.", "has_answer": True},
                {"role": "assistant", "content": "Noted.", "has_answer": False},
            ],
            [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": " "}],
        ],
    }


def test_longmemeval_ranks_sessions_by_their_best_turn(tmp_path: Path) -> None:
    file = tmp_path / "s.json.gz"
    file.write_bytes(gzip.compress(json.dumps([longmemeval_entry("1"), longmemeval_entry("2_abs")]).encode()))
    [case] = longmemeval(file)
    assert [unit.session for unit in case.units] == ["filler", "answer_1", "answer_1"], "by date, blank turns left out"
    assert case.ranking([case.units[2].id, case.units[0].id, case.units[1].id]) == ["answer_1", "filler"]
    assert case.passages == {"filler": ("Hello",), "answer_1": ("My bike is in the shed.",)}
    assert case.questions[0].gold == {"answer_1"}
    assert case.questions[0].asked_at == datetime(2023, 5, 30, 8, 8, tzinfo=UTC)
    write(tmp_path / "plain" / "longmemeval_s.json", [longmemeval_entry("1")])
    assert longmemeval(tmp_path / "plain") == [case]


@pytest.mark.parametrize("load", [locomo, locomo_plus, beam, qmsum, longmemeval])
def test_a_folder_without_the_set_is_refused(load: Callable[[Path], list[Case]], tmp_path: Path) -> None:
    write(tmp_path / "other.json", [{"something": "else"}])
    with pytest.raises(ImportFormatError):
        load(tmp_path)
