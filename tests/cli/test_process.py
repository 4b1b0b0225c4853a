"""The command as a process: exit codes, standard input, pipes that close, an interrupt, no traceback."""

import array
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

BYHEART = [sys.executable, "-m", "byheart.cli"]


def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, **environment}
    return subprocess.run([*BYHEART, *arguments], input=stdin, capture_output=True, check=False, env=env)


def test_remember_reads_standard_input_and_prints_json_alone() -> None:
    done = run("remember", "-", "--json", stdin="Grüße aus 東京.\n".encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["chunks"][0]["text"].strip() == "Grüße aus 東京."
    done = run("recall", "東京", "--json", PYTHONIOENCODING="ascii")
    assert "東京" in json.loads(done.stdout)["results"][0]["chunk"]["text"]
    done = run("recall", "東京", PYTHONIOENCODING="ascii")
    assert (done.returncode, b"\\u6771\\u4eac" in done.stdout) == (0, True)


def test_bad_standard_input_and_bad_options_are_one_line_and_exit_code_2() -> None:
    for arguments, stdin in ((["remember", "-"], b"caf\xe9"), (["recall", "x", "--limit", "many"], b"")):
        done = run(*arguments, stdin=stdin)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"error: ")
        assert done.stderr.count(b"\n") == 1


def test_a_store_that_is_not_ours_is_exit_code_3_and_a_traceback_only_with_debug(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"no database " * 500)
    done = run("stats")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"Traceback" not in done.stderr
    assert b"Traceback" in run("stats", "--debug").stderr


def test_nothing_found_is_exit_code_1() -> None:
    run("remember", "one")
    assert run("show", "ep_none").returncode == 1


@pytest.mark.parametrize(("command", "code"), [("remember - <&-", 2), ("stats >&-", 0), ("stats >&- 2>&-", 0)])
def test_a_standard_stream_that_is_closed_leads_nowhere(command: str, code: int) -> None:
    run("remember", "one")
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" -m byheart.cli {command}', sys.executable], capture_output=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr


def test_a_closed_pipe_is_quiet() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run([*BYHEART, "schema"], stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
def test_an_interrupt_is_quiet() -> None:
    reading, writing = os.pipe()
    # A shell that runs in the background hands on that interrupts are ignored; a person's does not.
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen([*BYHEART, "remember", "-"], stdin=reading, stderr=subprocess.PIPE)
    signal.signal(signal.SIGINT, heard)
    os.write(writing, b"never finished")
    unread = array.array("i", [1])
    while unread[0] and process.poll() is None:  # until the command has begun to read
        fcntl.ioctl(reading, termios.FIONREAD, unread)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    os.close(reading)
    os.close(writing)
    assert (process.returncode, errors) == (130, b"")
