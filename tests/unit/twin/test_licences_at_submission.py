"""Licences beyond those that there are, and the ends that a pass follows at once, are said."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

from wattline.shared_nodes.outcome import REASONS, REFUSED
from wattline.shared_nodes.simulate import simulate_shared

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
Licenses=m:3
NodeName=n[1-2] CPUs=4
PartitionName=p Nodes=ALL Default=YES
"""


@pytest.mark.parametrize(("number", "fits"), [(3, True), (4, False)])
def test_more_licences_than_there_are_are_refused_at_submission(
    tmp_path: Path, number: int, fits: bool
) -> None:
    made = site(tmp_path, submit(f"-n 1 -t 10 -L m:{number}"), CONF, None)
    assert [("than there are (4 of 3)" in line) for line in made.made.unfit] == [True] * (not fits)
    found = simulate_shared(made.machine, made.made.requests, made.rules)
    assert (found.state[0] == REFUSED) == (not fits)
    assert REASONS[found.reason[0]] == ("" if fits else "too few licences")


@pytest.mark.parametrize("listed", ["a:2,a:3", "a:5", "a=2;a:3", "b;a:5", "a:4,a,"])
def test_licences_that_stand_twice_in_slurm_conf_are_added_up(
    tmp_path: Path, listed: str
) -> None:
    log = submit("-n 1 -t 10 -L a:3") + submit("-n 1 -t 10 -L a:2;a") + submit("-n 1 -t 10 -L a:6")
    made = site(tmp_path, log, CONF.replace("m:3", listed), None)
    assert dict(zip(made.machine.licence_names, made.machine.licences, strict=True))["a"] == 5
    assert made.made.requests.licences.sum(axis=1).tolist() == [3, 3, 6]
    assert [("than there are (6 of 5)" in line) for line in made.made.unfit] == [True]
    said = [line for line in made.lists.contradictions if "'a' stands more than once" in line]
    assert len(said) == (listed.count("a") > 1)
    found = simulate_shared(made.machine, made.made.requests, made.rules)
    assert found.start_s[1] >= found.end_s[0]


@pytest.mark.parametrize(("line", "said"), [
    ("", "15%"), ("PrologFlags=Alloc\n", "15%"), ("Epilog=/bin/true\n", "every end"),
    ("PrologFlags=Contain\n", "every end"), ("PrologFlags=X11\n", "every end")])
def test_ends_that_a_pass_follows_at_once_are_assumed(
    tmp_path: Path, line: str, said: str
) -> None:
    found = site(tmp_path, submit("-n 1 -t 10"), line + CONF, None)
    assert sum(f"a pass follows {said}" in each for each in found.lists.assumed) == 1
