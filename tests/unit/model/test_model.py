"""The model's types: what they refuse, and what they answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.kernel import implement, kernel, slot
from wattline.model.kernel_arrays import KernelArrays
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal


class Pair(KernelArrays):
    FIELDS = ("left", "right")


@kernel
def add_up(pair, index):
    pair.left[index] += 1.0
    return pair.left.sum() + pair.right[index]


def test_books_in_a_kernel():
    pair = Pair(left=np.arange(3.0), right=np.arange(3))
    assert add_up(pair, 2) == 3 + 1 + 2
    assert pair.left.tolist() == [0, 1, 3]
    other = pair.copy()
    add_up(other, 0)
    assert pair.left.tolist() == [0, 1, 3]
    longer = pair.with_arrays(left=np.zeros(9))
    assert add_up(longer, 1) == 1 + 1
    assert longer.right is pair.right


def test_books_refuse_what_a_kernel_could_not_read():
    with pytest.raises(TypeError, match="needs the arrays left, right"):
        Pair(left=np.zeros(1))
    with pytest.raises(TypeError, match="needs the arrays"):
        Pair(left=np.zeros(1), right=np.zeros(1), middle=np.zeros(1))
    with pytest.raises(TypeError, match="'right' must be a contiguous"):
        Pair(left=np.zeros(1), right=np.zeros(4)[::2])
    with pytest.raises(TypeError, match="one dimension"):
        Pair(left=np.zeros((2, 2)), right=np.zeros(1))


class Double(NamedTuple):
    by: float = 2.0


class Unknown(NamedTuple):
    by: float = 1.0


@slot(1)
def changed(value, how):
    raise AssertionError


@slot(1, default=True)
def kept(value, how):
    return value


@implement(changed, Double)
@kernel
def _double(value, how):
    return value * how.by


@kernel
def through(value, how):
    return changed(value, how) + kept(value, how)


def test_slots_dispatch_on_the_type_of_parameters():
    assert changed(3.0, Double()) == 6.0
    assert through(3.0, Double(3.0)) == 12.0
    assert kept(3.0, Unknown()) == 3.0
    with pytest.raises(TypeError, match="no changed is registered for Unknown"):
        changed(3.0, Unknown())


@pytest.mark.compiled
def test_a_compiled_caller_names_the_policy_that_is_missing():
    with pytest.raises(Exception, match="no changed is registered for Unknown"):
        through(3.0, Unknown())


def test_an_implementation_takes_the_arguments_of_its_slot():
    with pytest.raises(TypeError, match=r"changed takes \('value', 'how'\)"):

        @implement(changed, Unknown)
        @kernel
        def _wrong(number, how):
            return number


def test_signal():
    signal = Signal.from_steps([(10, 5.0), (0, 1.0), (10, 3.0)])
    assert [signal.at(t) for t in (-5, 0, 9.9, 10, 99)] == [1, 1, 1, 3, 3]
    assert signal.sample([9, 10]).tolist() == [1, 3]
    assert signal.integral(-5, 20) == 15 + 30
    assert signal.scaled(2.0).value.tolist() == [2, 6]
    with pytest.raises(ValueError, match="read-only"):
        signal.value[0] = 7.0


@pytest.mark.parametrize(
    ("times", "values"), [([], []), ([0, 0], [1, 2]), ([0, np.inf], [1, 2]), ([0], [np.nan]),
                          ([0, 1], [1])])
def test_signal_refuses(times, values):
    with pytest.raises(InputError):
        Signal(np.array(times, dtype=float), np.array(values, dtype=float))


def test_machine():
    machine = Machine((NodeGroup(NodeClass("a", cores=4), 5, nodes_per_rack=2),
                       NodeGroup(NodeClass("b", cores=2, power_w_idle=10.0), 3)))
    assert (machine.node_count, machine.core_count) == (8, 26)
    assert machine.power_w_idle == 5 * 90 + 3 * 10
    assert machine.power_w_max == 8 * 300
    assert machine.racks == ((0, 2), (2, 2), (4, 1), (5, 3))
    assert [machine.rack_of(node) for node in (0, 3, 4, 7)] == [0, 1, 2, 3]
    assert [machine.class_of(node).name for node in (4, 5)] == ["a", "b"]
    with pytest.raises(InputError, match="no node 8"):
        machine.rack_of(8)
    with pytest.raises(InputError, match="only 8 nodes"):
        machine.class_of(8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NodeClass(power_w_idle=-1.0), "power_w_idle is -1.0"),
        (lambda: NodeClass(power_w_active=10.0), "below power_w_idle"),
        (lambda: NodeClass(cores=0), "from 1 to 1,000,000"),
        (lambda: NodeClass(speed=0.0), "must be from 1e-06 to"),
        (lambda: NodeGroup(NodeClass(), 0), "has 0 nodes"),
        (lambda: Machine(()), "at least one group"),
        (lambda: Reservation(0, 0, nodes=1), "duration must be positive"),
        (lambda: Reservation(0, 1, nodes=-1), "must not be negative"),
        (lambda: Reservation(0, 1), "how many nodes or watts"),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_job_table():
    jobs = JobTable.build(submit_s=[0, 0, 5], run_s=[1, 2, 3], procs=[1, 2, 3],
                          after_job=[-1, 0, 1], user=[0, 1, 0], names={"user": ("ann", "bob")})
    assert jobs.requested_s.tolist() == [1, 2, 3]
    assert jobs.job_id.tolist() == [1, 2, 3]
    assert (jobs.name_of("user", 1), jobs.name_of("group", 4)) == ("bob", "4")
    kept = jobs.take(np.array([False, True, True]))
    assert kept.after_job.tolist() == [-1, 0]  # the job it depended on is left out
    assert jobs.with_columns(run_s=[9, 9, 9]).run_s.tolist() == [9, 9, 9]
    with pytest.raises(ValueError, match="read-only"):
        jobs.run_s[0] = 3.0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"submit_s": [1, 0]}, "sorted by submit_s"),
        ({"after_job": [1, -1]}, "earlier row"),
        ({"colour": [1, 2]}, "unknown job columns: colour"),
        ({"user": [1]}, "job column 'user'"),
    ],
)
def test_job_table_refuses(columns, message):
    with pytest.raises(InputError, match=message):
        JobTable.build(**({"submit_s": [0, 1], "run_s": [1, 1], "procs": [1, 1]} | columns))


class Late(NamedTuple):
    by: float = 1.0


def test_what_is_registered_after_a_call_is_called_from_then_on():
    assert kept(3.0, Late()) == 3.0
    implement(kept, Late)(lambda value, how: value + how.by)
    assert kept(3.0, Late(2.0)) == 5.0
    assert kept(value=3.0, how=Late(2.0)) == 5.0
