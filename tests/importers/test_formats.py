"""N14: what comes in from elsewhere is told by its content and read in full; a file a format, written here."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from byheart.importers import BadRecord, detect, read
from byheart.types import NewEpisode

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return make


def episodes(path: Path, format_name: str | None = None) -> list[NewEpisode]:
    return [record for record in read(path, format_name) if isinstance(record, NewEpisode)]


def bad(path: Path, format_name: str | None = None) -> list[BadRecord]:
    return [record for record in read(path, format_name) if isinstance(record, BadRecord)]


def texts(episode: NewEpisode) -> list[str]:
    return [part.text for part in episode.parts]


def said(episode: NewEpisode) -> list[tuple[str | None, str | None, str]]:
    return [(part.speaker, part.role, part.text) for part in episode.parts]


# -- text ---------------------------------------------------------------------------------------------------------


def test_text_is_a_document_of_paragraphs(write: Write) -> None:
    path = write("notes.txt", "First line\nsecond line.\n\n\nAnother paragraph.\n")
    assert detect(path) == "text"
    [episode] = episodes(path)
    assert episode.type == "document"
    assert texts(episode) == ["First line\nsecond line.", "Another paragraph."]
    assert episode.session is None
    assert episode.timestamp == datetime.fromtimestamp(path.stat().st_mtime, UTC)
    assert episode.metadata == {"file": "notes.txt", "format": "text"}


def test_text_without_blank_lines_is_cut_at_line_ends(write: Write) -> None:
    lines = [f"line {number} " + "x" * 90 for number in range(200)]
    [episode] = episodes(write("long.txt", "\n".join(lines)))
    assert len(episode.parts) > 3
    assert "\n".join(texts(episode)).split("\n") == lines


def test_markdown_sections_stand_under_their_headings(write: Write) -> None:
    path = write(
        "guide.md",
        "Intro.\n\n# Guide\nHello.\n\n## Install ##\nRun it.\n```sh\n# no heading\n```\n"
        "## Use\nUse it.\n\nOther\n=====\nEnd.\n",
    )
    assert detect(path) == "markdown"
    [episode] = episodes(path)
    assert texts(episode) == [
        "Intro.",
        "Guide\nHello.",
        "Guide > Install\nRun it.\n```sh\n# no heading\n```",
        "Guide > Use\nUse it.",
        "Other\nEnd.",
    ]


def test_markdown_rules_and_lists_are_no_headings(write: Write) -> None:
    [episode] = episodes(write("a.md", "# T\n- one\n---\nafter\n~~~\n# in fence\n```\n~~~\nend\n"))
    assert texts(episode) == ["T\n- one\n---\nafter\n~~~\n# in fence\n```\n~~~\nend"]


def test_irc_log_becomes_turns_with_speakers_and_the_day_of_its_name(write: Write) -> None:
    path = write(
        "2024-02-28_chan.txt",
        "[23:58] <ann> anyone here?\n=== bob [~b@host] has joined #chan\n"
        "[23:59]  * bob waves\n[00:01] <@ann> <hi> bob\n",
    )
    assert detect(path) == "log"
    [episode] = episodes(path)
    assert episode.type == "conversation"
    assert said(episode) == [
        ("ann", None, "anyone here?"),
        ("bob", None, "* bob waves"),
        ("ann", None, "<hi> bob"),
    ]
    assert [part.timestamp for part in episode.parts] == [
        datetime(2024, 2, 28, 23, 58, tzinfo=UTC),
        datetime(2024, 2, 28, 23, 59, tzinfo=UTC),
        datetime(2024, 2, 29, 0, 1, tzinfo=UTC),
    ]


def test_irc_log_of_no_known_day_has_the_time_of_its_file(write: Write) -> None:
    path = write("chan.log", "[08:24] <ann> hello\n[08:25] <bob> hi\n")
    [episode] = episodes(path)
    assert [part.timestamp for part in episode.parts] == [None, None]
    assert episode.timestamp == datetime.fromtimestamp(path.stat().st_mtime, UTC)


def test_program_log_keeps_its_times_and_its_continued_lines(write: Write) -> None:
    path = write(
        "app.log",
        "2024-05-01 10:00:00,250 INFO started\n2024-05-01T12:00:01+02:00 ERROR failed\n  at line 3\n  at line 4\n",
    )
    assert detect(path) == "log"
    [episode] = episodes(path)
    assert episode.type == "event"
    assert texts(episode) == ["INFO started", "ERROR failed\n  at line 3\n  at line 4"]
    assert [part.timestamp for part in episode.parts] == [
        datetime(2024, 5, 1, 10, 0, 0, 250000, tzinfo=UTC),
        datetime(2024, 5, 1, 10, 0, 1, tzinfo=UTC),
    ]


def test_empty_files_hold_nothing(write: Write) -> None:
    for name in ("a.txt", "a.md", "a.json", "a.jsonl", "a.log"):
        path = write(name, "")
        assert detect(path) in {"text", "markdown"}
        assert list(read(path)) == []


# -- chats --------------------------------------------------------------------------------------------------------

TALK = [{"role": "user", "content": "Where is the key?"}, {"role": "assistant", "content": "Under the pot."}]
TALK_SAID = [("user", "user", "Where is the key?"), ("assistant", "assistant", "Under the pot.")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.json", json.dumps(TALK)),
        ("openai.json", json.dumps({"messages": TALK}, indent=1)),
        ("lines.jsonl", "\n".join(map(json.dumps, TALK))),
        ("one.jsonl", json.dumps({"messages": TALK})),
        ("wrapped.json", json.dumps({"conversations": [{"messages": TALK}]})),
        ("nested.json", json.dumps([{"turns": [[TALK[0]], [TALK[1]]]}])),
        ("nosuffix", json.dumps({"messages": TALK})),
    ],
)
def test_chats_of_many_shapes_say_the_same(write: Write, name: str, text: str) -> None:
    path = write(name, text)
    assert detect(path) == "chat"
    [episode] = episodes(path)
    assert said(episode) == TALK_SAID
    assert episode.type == "conversation"
    assert episode.session


def test_each_conversation_of_a_file_is_an_episode(write: Write) -> None:
    path = write("train.jsonl", "\n".join(json.dumps({"messages": TALK}) for _ in range(3)))
    found = episodes(path)
    assert [said(episode) for episode in found] == [TALK_SAID] * 3
    assert len({episode.key for episode in found}) == 3


def test_messages_with_session_ids_are_put_together_by_them(write: Write) -> None:
    lines = [{"session_id": name, "role": "user", "content": f"{name} {n}"} for n in range(2) for name in ("a", "b")]
    found = episodes(write("log.jsonl", "\n".join(map(json.dumps, lines))))
    assert {episode.session: texts(episode) for episode in found} == {"a": ["a 0", "a 1"], "b": ["b 0", "b 1"]}


def test_content_parts_tool_calls_and_names(write: Write) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "Mara", "content": [{"type": "text", "text": "Look:"}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "name": "look", "content": "a cat"},
        {"role": "assistant", "content": ""},
    ]
    [episode] = episodes(write("c.json", json.dumps(messages)))
    assert said(episode) == [
        ("system", "system", "Be brief."),
        ("Mara", "user", "Look:\n[image]"),
        ("tool", "tool", "look({})"),
        ("look", "tool", "a cat"),
    ]


def test_dialogues_by_their_key_names(write: Write) -> None:
    dialogues = [
        {
            "dialogue_id": "d1",
            "turns": [{"speaker": "USER", "utterance": "A table?"}, {"speaker": "SYSTEM", "utterance": "Done."}],
        },
        {"convo_id": 7, "original": [["agent", "Hi!"], ["customer", "My shoes."], ["action", "Account found."]]},
        {"id": "s1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]},
        {
            "uuid": "u1",
            "name": "Trip",
            "created_at": "2024-01-02T03:04:05Z",
            "chat_messages": [{"uuid": "m1", "sender": "human", "text": "Go", "created_at": "2024-01-02T03:04:06Z"}],
        },
    ]
    found = episodes(write("d.json", json.dumps(dialogues)))
    assert [episode.session for episode in found] == ["d1", "7", "s1", "u1"]
    assert said(found[0]) == [("USER", "user", "A table?"), ("SYSTEM", "assistant", "Done.")]
    assert [part.role for part in found[1].parts] == ["assistant", "user", "tool"]
    assert said(found[2]) == [("human", "user", "Hi"), ("gpt", "assistant", "Hello")]
    assert found[3].metadata["title"] == "Trip"
    assert found[3].timestamp == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (found[3].parts[0].source_id, found[3].parts[0].timestamp) == (
        "m1",
        datetime(2024, 1, 2, 3, 4, 6, tzinfo=UTC),
    )


def test_conversations_by_id_in_an_object(write: Write) -> None:
    talk = {"one.json": {"log": [{"speaker": "A", "text": "x"}]}, "two.json": {"log": [{"speaker": "B", "text": "y"}]}}
    found = episodes(write("woz.json", json.dumps(talk)))
    assert {episode.session: texts(episode) for episode in found} == {"one.json": ["x"], "two.json": ["y"]}


def test_messages_that_cannot_be_read_are_named_and_the_rest_goes_in(write: Write) -> None:
    lines = [
        json.dumps(TALK[0]),
        '{"role": "user", "content": ',
        '{"role": "user", "content": 5}',
        '{"role": "user", "content": "nul \\u0000"}',
        '{"role": "user", "content": "half \\ud800"}',
        '"not a message"',
        json.dumps({**TALK[1], "timestamp": "no time"}),
    ]
    path = write("c.jsonl", "\n".join(lines))
    [episode] = episodes(path)
    assert said(episode) == TALK_SAID
    assert [(record.file, record.line) for record in bad(path)] == [(str(path), line) for line in (2, 3, 4, 5, 6, 7)]
    problems = [record.problem for record in bad(path)]
    for problem, words in zip(
        problems, ("no JSON", "int", "NUL", "surrogate", "no messages", "'no time' is no date"), strict=True
    ):
        assert words in problem


def test_a_list_that_is_cut_off_gives_what_stands_before_the_cut(write: Write) -> None:
    whole = json.dumps([*TALK, {"role": "user", "content": "cut off here"}], indent=1)
    path = write("cut.json", whole[:-20])
    [episode] = episodes(path)
    assert said(episode) == TALK_SAID
    [record] = bad(path)
    assert (record.line, "cut off" in record.problem) == (12, True)


def test_an_object_that_is_cut_off_is_reported_by_line(write: Write) -> None:
    path = write("cut.json", json.dumps({"messages": TALK}, indent=1)[:-30])
    [record] = list(read(path))
    assert isinstance(record, BadRecord)
    assert (record.line, "cut off or broken" in record.problem) == (9, True)


def test_too_deep_json_and_too_long_texts_are_reported(write: Write) -> None:
    path = write("deep.jsonl", "\n".join([json.dumps(TALK[0]), "[" * 100_000, json.dumps(TALK[1])]))
    assert said(episodes(path)[0]) == TALK_SAID
    assert [record.line for record in bad(path)] == [2]
    path = write("long.json", json.dumps([TALK[0], {"role": "user", "content": "x" * 1_100_000}]))
    assert said(episodes(path)[0]) == TALK_SAID[:1]
    assert "more than the 1,048,576" in bad(path)[0].problem


# -- exports ------------------------------------------------------------------------------------------------------


def node(name: str, parent: str | None, role: str, content: object, **message: object) -> dict[str, object]:
    inner = {"id": name, "author": {"role": role}, "content": content, "create_time": 1_700_000_000, **message}
    return {"id": name, "parent": parent, "message": inner}


CHATGPT: dict[str, object] = {
    "title": "Cats",
    "conversation_id": "c-1",
    "create_time": 1_700_000_000.5,
    "current_node": "a2",
    "mapping": {
        "root": {"id": "root", "parent": None, "message": None},
        "sys": node("sys", "root", "system", {"content_type": "text", "parts": ["You are ChatGPT"]}),
        "u1": node("u1", "sys", "user", {"content_type": "multimodal_text", "parts": [
            {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}, "What is this?"]}),
        "a1": node("a1", "u1", "assistant", {"content_type": "text", "parts": ["An old branch."]}),
        "hid": node("hid", "u1", "user", {"content_type": "text", "parts": ["hidden"]},
                    metadata={"is_visually_hidden_from_conversation": True}),
        "think": node("think", "hid", "assistant", {"content_type": "thoughts", "thoughts": []}),
        "code": node("code", "think", "assistant", {"content_type": "code", "text": "look()"}, recipient="python"),
        "out": node("out", "code", "tool", {"content_type": "execution_output", "text": "cat"}),
        "a2": node("a2", "out", "assistant", {"content_type": "text", "parts": ["A cat."]}),
    },
}  # fmt: skip


def test_chatgpt_follows_the_current_branch(write: Write) -> None:
    path = write("conversations.json", json.dumps([CHATGPT]))
    assert detect(path) == "chatgpt"
    [episode] = episodes(path)
    assert said(episode) == [
        ("user", "user", "[image]\nWhat is this?"),
        ("tool", "tool", "look()"),
        ("tool", "tool", "cat"),
        ("assistant", "assistant", "A cat."),
    ]
    assert (episode.session, episode.metadata["title"]) == ("c-1", "Cats")
    assert episode.parts[0].timestamp == datetime.fromtimestamp(1_700_000_000, UTC)
    assert [part.source_id for part in episode.parts] == ["u1", "code", "out", "a2"]


def test_chatgpt_without_a_current_node_takes_the_newest_leaf_and_survives_a_loop(write: Write) -> None:
    first, second = node("x", None, "user", {"parts": ["one"]}), node("y", "x", "assistant", {"parts": ["two"]})
    loop = {"p": node("p", "q", "user", {"parts": ["round"]}), "q": node("q", "p", "user", {"parts": ["again"]})}
    found = episodes(
        write("c.json", json.dumps([{"id": "1", "mapping": {"x": first, "y": second}}, {"id": "2", "mapping": loop}]))
    )
    assert texts(found[0]) == ["one", "two"]
    assert sorted(texts(found[1])) == ["again", "round"]


def event(uuid: str, kind: str, content: object, **more: object) -> str:
    message = {"role": kind, "content": content}
    return json.dumps({"type": kind, "uuid": uuid, "sessionId": "s-1", "message": message, **more})


def test_claude_code_session(write: Write) -> None:
    lines = [
        json.dumps({"type": "summary", "summary": "A talk", "leafUuid": "x"}),
        event("u1", "user", "Fix the test", timestamp="2025-01-02T03:04:05.678Z"),
        event("m1", "user", "Caveat: The messages below were generated by the user while running local commands."),
        event("m2", "user", "ignored", isMeta=True),
        event("a1", "assistant", [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "name": "Bash", "input": {"command": "pytest"}},
        ]),
        event("u2", "user", [{"type": "tool_result", "content": [{"type": "text", "text": "y" * 5000}]}]),
        event("u1", "user", "Fix the test", timestamp="2025-01-02T03:04:05.678Z"),
        json.dumps({"type": "user", "uuid": "b1", "sessionId": "s-1", "message": "broken"}),
        "42",
    ]  # fmt: skip
    path = write("s.jsonl", "\n".join(lines))
    assert detect(path) == "claude-code"
    [episode] = episodes(path)
    assert said(episode)[:3] == [
        ("user", "user", "Fix the test"),
        ("assistant", "assistant", "Looking."),
        ("tool", "tool", "Bash(command: pytest)"),
    ]
    assert episode.parts[3].role == "tool"
    assert episode.parts[3].text.endswith("… (4000 more characters)")
    assert episode.session == "s-1"
    assert [part.source_id for part in episode.parts] == ["u1", "a1", "a1.1", "u2"]
    assert episode.parts[0].timestamp == datetime(2025, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    assert [record.line for record in bad(path)] == [8, 9]


def test_locomo_sessions_with_dates_and_captions(write: Write) -> None:
    talk = {
        "sample_id": "conv-x",
        "qa": [{"question": "?"}],
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi"},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "See", "blip_caption": "a dog"},
                {"speaker": "Bo", "dia_id": "D1:3"},
            ],
            "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "Later"}],
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Soon"}],
        },
    }
    path = write("l.json", json.dumps([talk]))
    assert detect(path) == "locomo"
    found = episodes(path)
    assert [episode.session for episode in found] == [f"conv-x/session_{n}" for n in (1, 2, 10)]
    assert texts(found[0]) == ["Hi", "See [image: a dog]"]
    assert found[0].timestamp == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert found[0].parts[1].source_id == "D1:2"
    assert "'D1:3' has no text" in bad(path)[0].problem


def test_trajectory_steps(write: Write) -> None:
    run = {
        "trajectory": [
            {"thought": "Look first.", "action": "ls\n", "observation": "a.py"},
            {"response": "Done.", "action": "submit", "observation": None, "thought": ""},
        ],
        "history": [{"role": "system", "content": "s"}, {"role": "user", "content": "Fix it."}],
        "info": {"exit_status": "submitted"},
    }
    path = write("run.traj", json.dumps(run))
    assert detect(path) == "trajectory"
    [episode] = episodes(path)
    assert said(episode) == [
        ("user", "user", "Fix it."),
        ("assistant", "assistant", "Look first."),
        ("action", "tool", "ls"),
        ("observation", "tool", "a.py"),
        ("assistant", "assistant", "Done."),
        ("action", "tool", "submit"),
    ]
    assert episode.metadata["exit_status"] == "submitted"


def test_json_as_a_document_when_named(write: Write) -> None:
    path = write("kb.json", json.dumps({"Refunds": {"steps": ["pull up", "offer"], "days": 30}, "empty": {}}))
    [episode] = episodes(path, "json")
    assert texts(episode) == ["Refunds > steps: pull up\nRefunds > steps: offer\nRefunds > days: 30"]
    assert episode.type == "document"
