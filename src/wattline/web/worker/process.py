"""A worker process: a task per line of JSON in, an answer per line out, within its memory.

Whatever a request asks for is done here and not beside the event loop: what takes too long is
killed, what takes too much memory fails alone. Only JSON comes back, so that a worker that was led
astray by a file cannot lead the server astray.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, BinaryIO

from wattline.model.errors import InputError, WattlineError, WattlineWarning
from wattline.web.plain_values import plain
from wattline.web.worker.tasks import TASKS

READY = {"ready": True}
PARENT_EVERY_S = 1.0


def answer(task: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a task gives, or in one line why it gives nothing."""
    try:
        return {"answer": plain(TASKS[task]()(given))}
    except InputError as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"memory": True}
    except WattlineError as error:
        return {"refused": str(error)}
    except Exception as error:  # a bug of ours: said without what only the server should know
        if "emory" in type(error).__name__:  # Arrow has its own
            return {"memory": True}
        return {"failed": type(error).__name__}


def limit_memory(beyond_bytes: int) -> None:
    """Let this process grow by so much from here on; what libraries have mapped is not counted."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + beyond_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent() -> None:
    """Nobody waits for an answer once the server is gone, however it went."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_EVERY_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def serve(asked: BinaryIO, said: BinaryIO) -> None:
    """Answer until the server closes its end."""
    for line in asked:
        given = json.loads(line)
        text = json.dumps(answer(given["task"], given["given"]), allow_nan=False)
        said.write(text.encode("ascii") + b"\n")
        said.flush()


def main() -> None:
    # What a library prints must not come between the answers.
    said = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    warnings.simplefilter("ignore", WattlineWarning)  # remarks are in the answers
    end_with_parent()
    import wattline.scenario.build  # noqa: F401 - so that the limit counts work, not imports

    limit_memory(int(sys.argv[1]))
    said.write(json.dumps(READY).encode("ascii") + b"\n")
    said.flush()
    serve(sys.stdin.buffer, said)


if __name__ == "__main__":
    main()
