"""Names that others gave reach no terminal as an order, and hide nothing."""

from __future__ import annotations

import pty
import subprocess
import sys
from os import close, environ, read
from pathlib import Path

import pytest

from wattline.cli.main import main
from wattline.cli.visible import Visible, visible

HOSTILE = "ann\u202etxt\u2066\x1b[31m\x9b2J\u200b\x07\r\x00"
WRITTEN = r"ann\u202etxt\u2066\x1b[31m\x9b2J\u200b\x07\r\x00"
LOG = """; MaxNodes: 8
1 0 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1
"""


@pytest.mark.parametrize(("text", "said"), [
    (HOSTILE, WRITTEN), ("Ünïcode 名 \u0645\u06cc\u200c\u062e 👩\u200d💻\n", None),
    ("a\tb\n", None),
    ("\ufeffa\u00ad\u2028\udcff", r"\ufeffa\xad\u2028\udcff"), ("", None), (WRITTEN, None)])
def test_controls_are_written_out(text, said):
    assert visible(text) == (text if said is None else said)


def test_a_stream_takes_text_and_is_the_other_otherwise(capsys):
    stream = Visible(sys.stdout)
    assert stream.write("a\u202eb") == 3
    assert stream.encoding == sys.stdout.encoding
    with pytest.raises(TypeError):
        stream.write(b"")
    assert capsys.readouterr().out == r"a\u202eb"


@pytest.fixture
def scenario(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG)
    name = HOSTILE.encode("unicode_escape").decode().replace("\\x", "\\u00")
    (tmp_path / "s.toml").write_text(f'name = "{name}[/]"\n[trace]\nfile = "log.swf"\n')
    return tmp_path / "s.toml"


def test_a_command_prints_what_a_name_is(scenario, capsys):
    before = sys.stdout, sys.stderr
    with pytest.raises(SystemExit):
        main(["simulate", str(scenario), "--no-folder"])
    said = capsys.readouterr().out
    assert r"ann\u202etxt\u2066" in said
    assert not {"\u202e", "\u200b", "\x9b", "\x07", "\r", "\0"} & set(said)
    assert (sys.stdout, sys.stderr) == before
    with pytest.raises(SystemExit):
        main(["simulate", "no\u202efile.swf"])
    assert r"no\u202efile.swf: there is no such file" in capsys.readouterr().err


@pytest.mark.waits
def test_a_terminal_gets_the_bar_and_no_orders_of_a_name(scenario):
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "wattline", "simulate", str(scenario), "--no-folder"],
        cwd=scenario.parent, env={**environ, "WATTLINE_PLAIN": "1", "TERM": "xterm",
                                  "COLUMNS": "200"}, stdout=theirs, stderr=theirs)
    close(theirs)
    said = b""
    while chunk := _next(ours):
        said += chunk
    assert done.wait() == 0
    text = said.decode()
    assert f"simulating {WRITTEN}[/]" in text
    assert f"{WRITTEN}[/]: 1 job" in text
    assert not {"\u202e", "\u200b", "\x9b", "\x07"} & set(text)


def _next(handle: int) -> bytes:
    try:
        return read(handle, 65536)
    except OSError:  # the other side is closed
        return b""
