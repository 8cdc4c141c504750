"""Files with broken lines, odd numbers and strange signs end in a twin or in one line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import wattline as wl

EXAMPLE = Path(__file__).parents[3] / "examples" / "twin"
FILES = ("slurm.conf", "gres.conf", "sacctmgr.txt", "sacct.txt")
ODD = ("=", "|", ",", "[", "-1", "9" * 25, "nan", "inf", "\n", "é", "\0", "1e400", "INFINITE", "(",
       "*", ":", "'", '"', "\\", "ALL", "DEFAULT", "n[1-999999999]")


def _broken(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        if chance.random() < 0.6:
            text = text[:at] + chance.choice(ODD) + text[at:]
        else:
            text = text[:at] + text[at + chance.randint(1, 8):]
    return text


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("seed", range(40))
def test_a_broken_file_costs_one_line(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    broken = chance.choice(FILES)
    for name in FILES:
        text = (EXAMPLE / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(_broken(text, chance) if name == broken else text)
    given = {"gres": tmp_path / "gres.conf", "assoc": tmp_path / "sacctmgr.txt",
             "sacct": tmp_path / "sacct.txt", "out": tmp_path / "twin.toml"}
    said = ""
    try:
        wl.make_twin(tmp_path / "slurm.conf", **given)
    except wl.InputError as error:
        said = str(error)
    if said:
        assert broken in said
        assert "\n" not in said
    else:
        assert wl.load_scenario(tmp_path / "twin.toml").twin is not None
