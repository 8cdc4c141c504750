"""No scenario, however it was spoilt, gives anything but a line of refusal or finite figures."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.property.scenario_draws import BUILT_IN, FILES, GOOD_NETWORKS, HOSTILE, SCHEMA, SECTIONS
from tests.property.scenario_fuzz import COUNT, OFTEN
from tests.support.plain import ROOT, plain_environment

from wattline.scenario.parameters import GENERATORS
from wattline.traces.generators import MODELS


@pytest.fixture(scope="module")
def found():
    """The tally of a process of its own, where kernels are plain and warnings are findings."""
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.property.scenario_fuzz", "0",
         str(COUNT)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=900,
        env=plain_environment())
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


DRAWN = set(SCHEMA["properties"]) - {"contract", "twin"}
"""Contracts are run by `regulate`; test_hostile_inputs.py spoils their fields. Twins are made of a
site's files, which tests/unit/twin spoils."""


def test_every_scenario_is_refused_in_a_line_or_gives_finite_figures(found):
    assert found["wrong"] == []


def test_no_scenario_spends_memory(found):
    # Compilers, tables and databases are loaded into it; a scenario that spends memory has more.
    assert found["peak_kib"] < 720 * 1024


def test_every_section_was_refused_and_was_run(found):
    tally = found["sections"]
    assert sum(tally.values()) >= COUNT + OFTEN * sum(len(named) for named in BUILT_IN.values())
    for section in DRAWN:
        assert tally.get(f"{section} refused", 0) >= 8, section
        assert tally.get(f"{section} run", 0) >= 4, section


def test_every_policy_generator_and_network_was_run(found):
    ran = found["ran"]
    policies = [f"{axis}.{name}" for axis, named in BUILT_IN.items() for name in named]
    generators = [f"generate.{name}" for name in GENERATORS]
    networks = [f"network.{kind}" for kind in GOOD_NETWORKS]
    assert [what for what in (*policies, *generators, *networks) if not ran.get(what)] == []
    # Some 240 of 400 are spoilt, and what was put there is allowed in one of seventeen.
    assert sum(count for what, count in ran.items() if what.startswith("spoilt")) >= COUNT // 40


def test_a_new_section_or_generator_is_drawn_too():
    assert set(SECTIONS) == DRAWN
    assert set(GENERATORS) == set(MODELS)
    assert len(HOSTILE) > 50
    assert len(FILES) > 10
