"""Options of sbatch and srun with a value that may be missing, and colons inside of values."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.site.associations import read_associations
from wattline.site.sbatch import options_of


@pytest.mark.parametrize(("line", "values"), [
    ("--kill-on-invalid-dep yes -n 4 x.sh", {"kill-on-invalid-dep": "yes", "ntasks": "4"}),
    ("--nice -n 4 x.sh", {"nice": "", "ntasks": "4"}),
    ("--nice=50 --propagate x.sh", {"nice": "50", "propagate": ""}),
    ("-l -u -n 4 x.sh", {"label": "", "unbuffered": "", "ntasks": "4"}),
    ("-K1 -n 4 x.sh", {"kill-on-bad-exit": "1", "ntasks": "4"}),
])
def test_a_word_after_an_option_is_its_value_only_where_it_needs_one(
    line: str, values: dict[str, str]
) -> None:
    found = options_of(line.split(), "line")
    assert found.values == values
    assert found.rest == ("x.sh",)


def test_the_colon_of_a_type_of_gpus_does_not_end_a_value(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_text("Cluster - 't':Fairshare=1\nParent - 'root'\n"
                    "Account - 'a':GrpTRES=gres/gpu:a100=1,mem=100G:Fairshare=7\n")
    row = next(row for row in read_associations(dump).rows if row.account == "a")
    assert row.shares == 7
    assert "gres/gpu:a100=1,mem=100G" in row.settings.values()
