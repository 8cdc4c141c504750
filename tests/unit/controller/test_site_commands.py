"""A command of a site's Slurm answers, or says nothing in time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from wattline.controller.testbed.site import daemons
from wattline.controller.testbed.site.daemons import SiteDaemons
from wattline.model.errors import WattlineError


class Shell(SiteDaemons):
    """Runs scripts instead of commands of Slurm."""

    def __init__(self) -> None:
        self.environment = {"PATH": "/usr/bin:/bin"}

    def _command(self, command: Sequence[str]) -> list[str]:
        return ["sh", "-c", command[0]]


@pytest.mark.parametrize(("script", "said"), [
    ("echo unable to accept job >&2; exec sleep 20", ": unable to accept job"),
    ("exec sleep 20", ": without a word")])
def test_a_command_that_does_not_end_is_a_sentence(
    script: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemons, "PATIENCE_S", 1.0)
    with pytest.raises(WattlineError, match=f"did not end within 1 s{said}"):
        Shell().ask(script)


def test_a_command_that_fails_says_its_last_line() -> None:
    with pytest.raises(WattlineError, match=r"failed: two$"):
        Shell().ask("echo one >&2; echo two >&2; exit 1")
    assert Shell().ask("echo fine") == "fine\n"
