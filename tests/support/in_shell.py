"""A command as somebody gives it in a folder, with something in its pipe: in this process where
kernels are plain Python, because a new one spends half a second on its imports."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from tests.support.plain import plain_environment
from wattline.cli.main import main
from wattline.model.kernel import PLAIN


def in_shell(*words: str, folder: Path, sent: str = "") -> subprocess.CompletedProcess[str]:
    if not PLAIN:
        return subprocess.run([sys.executable, "-m", "wattline", *words], cwd=folder, input=sent,
                              env=plain_environment(), capture_output=True, text=True, check=False)
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err), _in_pipe(sent):
        try:
            main(list(words))
        except SystemExit as stopped:
            status = stopped.code
    return subprocess.CompletedProcess(words, int(status or 0), out.getvalue(), err.getvalue())


@contextmanager
def _in_pipe(sent: str) -> Iterator[None]:
    """Content of /dev/stdin: a pipe with this in it, and its end. It has room for 64 KiB."""
    before = os.dup(0)
    reads, writes = os.pipe()
    os.write(writes, sent.encode())
    os.close(writes)
    os.dup2(reads, 0)
    os.close(reads)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
