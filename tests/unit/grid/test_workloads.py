"""The shipped job types and workloads keep the rules that they are published with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wattline.grid.workloads import (
    Workload,
    applications,
    poisson_jobs,
    workload,
    workload_names,
)
from wattline.model.errors import InputError

W = {name: workload(name) for name in workload_names()}
PROVENANCE = {"read", "inferred", "chosen"}


def test_tables_are_complete_and_every_value_says_where_it_is_from() -> None:
    assert len(applications("npb")) == 31
    assert len(applications("moc")) == 7
    for table in ("npb", "moc"):
        for job_type in applications(table).values():
            assert set(job_type.sources.values()) <= PROVENANCE
            assert len(job_type.sources) == 6


def test_workloads_keep_their_published_rules() -> None:
    assert [len(W[f"W{i}"].types) for i in range(1, 15)] == [8] * 5 + [2, 16] + [8] * 6 + [3]
    assert all(t.servers == 1 for t in W["W2"].types)
    assert all(4 <= t.servers <= 8 for t in W["W3"].types)
    assert all(t.time_s_min <= 120 for t in W["W4"].types)
    assert all(122 <= t.time_s_min <= 1022 for t in W["W5"].types)
    assert all(t.power_w_max <= 350 for t in W["W8"].types)
    assert all(t.power_w_max > 350 for t in W["W9"].types)
    assert all(t.threshold <= 5 for t in W["W10"].types)
    assert all(t.threshold > 5 for t in W["W11"].types)
    assert W["W12"].types == W["W1"].types == W["W13"].types
    assert (W["W12"].utilisation, W["W13"].utilisation) == (0.25, 0.9)
    tightest = sorted(applications("npb").values(), key=lambda t: t.threshold)[:3]
    assert set(W["W14"].types) == set(tightest)


def test_unreadable_sizes_follow_from_threads_at_28_cores() -> None:
    inferred = [t for t in applications("npb").values() if t.sources["servers"] == "inferred"]
    assert len(inferred) == 2
    for job_type in inferred:
        assert job_type.servers == -(-int(job_type.name.split(".")[2]) // 28)


def test_chosen_digits_of_thresholds_come_from_the_stated_seed() -> None:
    rng = np.random.default_rng(20)
    tight = {t.name for t in W["W10"].types}
    slack = {t.name for t in W["W11"].types}
    extra = {t.name for t in W["W14"].types}
    compared = 0
    for job_type in applications("npb").values():
        if job_type.threshold_sure == "sure":
            continue
        low, high = 26, 79
        if job_type.name in extra:
            low, high = 20, 25
        elif job_type.name in tight:
            low, high = 26, 50
        elif job_type.name in slack:
            low, high = 51, 79
        drawn = int(rng.integers(low, high + 1))
        tenths = round(10 * job_type.threshold)
        if job_type.threshold_sure == "integer":
            assert tenths % 10 == drawn % 10
        elif job_type.threshold_sure == "chosen":
            assert tenths == drawn
        compared += job_type.threshold_sure not in ("likely", "either")
    assert compared == 10


def test_integer_digits_of_thresholds_are_those_of_the_damaged_row() -> None:
    """The row's glyphs, calibrated on types whose threshold is printed whole elsewhere."""
    digits = {3: ("sp.D.100", "sp.D.196", "is.D.64", "bt.C.36", "ep.D.64", "bt.D.25", "ft.D.64"),
              7: ("lu.D.224", "is.D.4", "cg.D.16", "ft.D.128"), 6: ("lu.C.28",),
              4: ("ep.D.100", "cg.C.4", "cg.D.128", "lu.D.112"),
              2: ("ep.D.56", "mg.D.16", "mg.D.8"),
              5: ("is.D.32", "bt.D.49", "ep.D.28", "lu.D.28", "sp.D.16", "cg.D.32", "mg.D.32")}
    table = applications("npb")
    for digit, names in digits.items():
        assert [int(table[name].threshold) for name in names] == [digit] * len(names)
    known = {name for names in digits.values() for name in names}
    assert {t.name for t in table.values() if t.threshold_sure == "chosen"} == set(table) - known


def test_time_is_linear_in_power() -> None:
    bt = applications("moc")["bt"]
    assert bt.time_s(279) == 108.5
    assert bt.time_s(241) == 143.0
    assert bt.time_s(260) == pytest.approx((108.5 + 143.0) / 2)
    assert bt.time_s(100) == 143.0


def test_arrivals_keep_the_stated_utilisation() -> None:
    for found in W.values():
        busy = found.arrivals_per_s @ (found.column("servers") * found.column("time_s_min"))
        assert busy == pytest.approx(found.utilisation * found.servers)


def test_poisson_jobs_bring_the_work_of_the_utilisation() -> None:
    jobs = poisson_jobs(W["W4"], 200_000, np.random.default_rng(3))
    work = float((jobs.procs * jobs.run_s).sum()) / 200_000
    assert work == pytest.approx(17.5, rel=0.03)
    assert np.all(np.diff(jobs.submit_s) >= 0)
    assert jobs.names["application"] == tuple(t.name for t in W["W4"].types)


def test_standby_jobs_are_there_from_the_start_and_enough() -> None:
    moc = W["MOC"]
    jobs = poisson_jobs(moc, 3600, np.random.default_rng(3))
    standby = jobs.application == len(moc.types)
    assert np.all(jobs.submit_s[standby] == 0)
    assert jobs.run_s[standby].sum() >= 3600 * moc.servers


def test_levels_and_scaling() -> None:
    assert W["W4"].at_level("tight").types[0].threshold == W["W4"].types[0].threshold / 2
    big = W["W1"].scaled(3500, sizes=True)
    assert [t.servers for t in big.types] == [100 * t.servers for t in W["W1"].types]
    assert W["W1"].with_standby().standby is not None
    with pytest.raises(InputError, match="tight, medium, loose"):
        W["W4"].at_level("none")


def test_bad_workloads_are_refused() -> None:
    with pytest.raises(InputError, match="known: W1"):
        workload("W15")
    with pytest.raises(InputError, match="needs 8 servers, the cluster has 4"):
        workload("W3", 4)
    with pytest.raises(InputError, match="utilisation"):
        replace(W["W1"], utilisation=1.5)
    one = W["W1"].types[0]
    with pytest.raises(InputError, match="longest"):
        replace(one, time_s_max=1.0)
    with pytest.raises(InputError, match="lowest power"):
        replace(one, power_w_min=1e4)
    with pytest.raises(InputError, match="no job types"):
        Workload("none", (), 1, 1.0)
