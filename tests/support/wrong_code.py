"""A scheduler with one wrong line, for tests that show who notices it; for plain kernels alone."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def wrong_line(place: str, right: str, wrong: str) -> Iterator[None]:
    """Run with one piece of a function's text replaced, wherever the function was imported to.

    `place` is `MODULE.FUNCTION`; the piece must occur exactly once in it.
    """
    module_name, _, name = place.rpartition(".")
    module = importlib.import_module(module_name)
    function = getattr(module, name)
    text = inspect.getsource(function)
    assert text.count(right) == 1, f"{place} has {text.count(right)} times: {right}"
    names: dict[str, Any] = dict(vars(module))
    exec(compile(text.replace(right, wrong), f"<{place}, wrong>", "exec"), names)
    with pytest.MonkeyPatch.context() as patch:
        for other in list(sys.modules.values()):
            if getattr(other, name, None) is function:
                patch.setattr(other, name, names[name])
        yield
