"""Keys are made for names that agents take, and nowhere else than in their folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.live.transport.broker import make_broker_files
from wattline.model.errors import InputError

BAD = ["../x", "a/b", "+", "#", "", "a b", 'x"y', "n#", "n+", ".", "..", "-n", "n\n", "n" * 65]


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("what", ["cluster", "node"])
def test_other_names_are_refused_before_anything_is_written(
    tmp_path: Path, what: str, name: str
) -> None:
    cluster, nodes = (name, ["n1"]) if what == "cluster" else ("site", ["n1", name])
    with pytest.raises(InputError, match=what):
        make_broker_files(tmp_path / "keys" / "own", cluster, nodes)
    assert list(tmp_path.iterdir()) == []


def test_the_longest_names_get_certificates(tmp_path: Path) -> None:
    files = make_broker_files(tmp_path / "keys", "c" * 64, ["n" * 64])
    assert files.order_key("n" * 64).exists()
