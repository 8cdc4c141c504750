"""The contract of a policy, held against the built-in ones and against one written in Python."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.workloads import compose
from wattline.policies import plain
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.wait import Wait
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.largest import Largest
from wattline.policies.order.sjf import Sjf
from wattline.policies.order.wfp import Wfp
from wattline.policies.view import Start
from wattline.testing import PolicyContract


class FewJobs(PolicyContract):
    """Policies that differ in one choice: `TestEasyWithMoreJobs` has more, and `test_choices.py`
    all choices. Of those that keep a cap and of the orders some are for `make test-long` alone."""

    jobs = 20
    seeds = (1, 2)


@pytest.mark.long
class TestFcfs(FewJobs):
    keeps_head = True

    def make_policy(self):
        return compose(backfill=NoBackfill())


class TestEasy(FewJobs):
    keeps_head = True

    def make_policy(self):
        return compose()


@pytest.mark.long
class TestEasyWithMoreJobs(TestEasy):
    seeds = (1, 2, 3, 4, 5)
    jobs = PolicyContract.jobs


class TestEasyShortestFirst(FewJobs):
    keeps_head = True

    def make_policy(self):
        return compose(order=Sjf())

    @staticmethod
    def queue_key(jobs, job, now_s):
        return float(jobs.requested_s[job])


@pytest.mark.long
class TestEasyLargestFirst(FewJobs):
    keeps_head = True

    def make_policy(self):
        return compose(order=Largest())

    @staticmethod
    def queue_key(jobs, job, now_s):
        return -float(jobs.procs[job])


class TestEasyWfp(FewJobs):
    keeps_head = True

    def make_policy(self):
        return compose(order=Wfp())

    @staticmethod
    def queue_key(jobs, job, now_s):
        waited = (now_s - jobs.submit_s[job]) / jobs.requested_s[job]
        return -float(jobs.procs[job]) * waited * waited * waited


class TestConservative(FewJobs):
    keeps_all = True
    seeds = (1, 2)
    jobs = 24

    def make_policy(self):
        return compose(backfill=Conservative())


class TestBlock(FewJobs):
    cap_w = 2200.0
    keeps_cap = True

    def make_policy(self):
        return compose(admission=Block())


@pytest.mark.long
class TestWait(FewJobs):
    cap_w = 2200.0
    keeps_cap = True

    def make_policy(self):
        return compose(admission=Wait(wait_s=20.0, slots=2))


@pytest.mark.long
class TestDvfs(FewJobs):
    cap_w = 2200.0
    keeps_cap = True

    def make_policy(self):
        return compose(
            admission=Dvfs(speed=np.array([0.5, 0.8, 1.0]), power_factor=np.array([0.5, 0.75, 1.0]))
        )


class FirstThatFits:
    """The shortest policy that runs every job: the oldest that fits, and nobody passes it."""

    def decide(self, view):
        free, starts = view.free, []
        for job in view.queue:
            if job.units > free:
                break
            free -= job.units
            starts.append(Start(job.job))
        return starts


class TestFirstThatFits(FewJobs):
    keeps_head = True

    def make_policy(self):
        return FirstThatFits()


class TestPlainEasy(FewJobs):
    keeps_head = True

    def make_policy(self):
        return plain.PlainEasy()


class TestPlainConservative(FewJobs):
    keeps_all = True
    seeds = (1,)
    jobs = 20

    def make_policy(self):
        return plain.PlainConservative()
