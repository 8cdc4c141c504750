"""Conservative backfilling, BLOCK and WAIT beside jobs whose size follows from a table."""

import pytest

from wattline.model.errors import InputError
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.conservative_moldable import ConservativeMoldable
from wattline.scenario.build import plan
from wattline.scenario.load import validate

TABLE = """application,nodes,cores,cap_w,time_s,power_w
app,2,8,50,125,200
app,2,8,100,100,400
app,4,8,50,63,400
app,4,8,100,50,800
app,8,8,50,32,800
app,8,8,100,26,1600
app,10,8,50,28,1000
app,10,8,100,20,2000
"""
HEAD = "job_id,submit_s,run_s,requested_s,procs,application\n"


def planned(tmp_path, jobs, cap, nodes=10, **policy):
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "jobs.csv").write_text(HEAD + jobs)
    configure = {"table": str(tmp_path / "table.csv"), **policy.pop("configure")}
    fields = {"trace": {"file": str(tmp_path / "jobs.csv")},
              "machine": {"nodes": nodes, "node_idle_w": 0},
              "policy": {"configure": configure, **policy}, "power": {"cap": cap}}
    return plan(validate(fields))


def starts(tmp_path, jobs, cap, nodes=10, **policy):
    ran = planned(tmp_path, jobs, cap, nodes, **policy).run()
    assert ran.ran.all()
    return ran.schedule.start_s.tolist()


# The third job needs the whole machine; the fourth would hold two nodes for long.
LONG_LAST = "1,0,9,60,8,app\n2,1,9,110,4,app\n3,2,9,60,10,app\n4,3,9,300,2,app\n"


@pytest.mark.parametrize(("backfill", "expected"), [
    ("easy", [0.0, 26.0, 103.0, 3.0]),  # only the second has a reservation
    ("conservative", [0.0, 26.0, 76.0, 96.0]),
])
def test_every_waiting_moldable_job_has_a_reservation_of_nodes(tmp_path, backfill, expected):
    assert starts(tmp_path, LONG_LAST, "9kW", backfill=backfill,
                  configure={"name": "traditional"}) == expected


def test_a_short_job_may_pass_where_the_plan_has_room_for_it(tmp_path):
    short = LONG_LAST.replace("4,3,9,300,2", "4,3,9,100,2")
    assert starts(tmp_path, short, "9kW", backfill="conservative",
                  configure={"name": "traditional"}) == [0.0, 26.0, 103.0, 3.0]


def test_watts_are_kept_for_the_first_job_that_waits_for_them(tmp_path):
    # Nodes are free; beside the first job there are 900 W, and the second draws 1600.
    jobs = "1,0,9,60,4,app\n2,1,9,60,8,app\n3,2,9,300,2,app\n"
    assert starts(tmp_path, jobs, "1700W", nodes=20, backfill="conservative",
                  configure={"name": "traditional"}) == [0.0, 50.0, 76.0]


def test_an_adaptive_job_starts_in_what_the_plan_has_room_for_now(tmp_path):
    # Its share buys 8 nodes at 50 W; 2 are free, and it would accept to take twice as long.
    jobs = "1,0,9,60,8,app\n2,1,9,110,8,app\n"
    for name, second in (("naive", 32.0), ("adaptive", 1.0)):
        assert starts(tmp_path, jobs, "1200W", backfill="conservative",
                      configure={"name": name, "threshold": 1.0}) == [0.0, second]


# Of 1700 W the first job leaves 900; the second draws 1600, the third 400 for 100 s.
NO_WATTS = "1,0,9,60,4,app\n2,1,9,60,8,app\n3,2,9,300,2,app\n"


@pytest.mark.parametrize(("power", "expected"), [
    ("block", [0.0, 50.0, 76.0]),  # nobody passes the second
    ("wait", [0.0, 102.0, 2.0]),  # it has stepped aside, and the third took its watts
    ("watts", [0.0, 50.0, 76.0]),  # the third would not end in time
])
def test_jobs_of_a_fixed_size_can_be_held_back_for_their_watts(tmp_path, power, expected):
    assert starts(tmp_path, NO_WATTS, "1700W", nodes=20, power=power,
                  configure={"name": "traditional"}) == expected


def test_block_lets_nobody_pass_who_would_end_in_time(tmp_path):
    long_first = "1,0,9,120,2,app\n2,0,9,120,4,app\n3,1,9,60,4,app\n4,2,9,100,2,app\n"
    given = {"nodes": 20, "configure": {"name": "traditional"}}
    assert starts(tmp_path, long_first, "1700W", power="watts", **given)[3] == 2.0
    assert starts(tmp_path, long_first, "1700W", power="block", **given)[3] == 50.0


def test_shares_are_held_only_where_watts_are_a_resource(tmp_path):
    with pytest.raises(InputError, match=r"holds = 'share' does not go with policy.power 'block'"):
        planned(tmp_path, LONG_LAST, "9kW", power="block",
                configure={"name": "naive", "holds": "share"})


def test_other_jobs_keep_the_plan_that_is_not_made_anew(tmp_path):
    made = planned(tmp_path, LONG_LAST, "9kW", backfill="conservative",
                   configure={"name": "naive"})
    assert isinstance(made.policy.backfill, ConservativeMoldable)
    plain = plan(validate({"trace": {"file": str(tmp_path / "jobs.csv")},
                           "machine": {"nodes": 10}, "policy": {"backfill": "conservative"}}))
    assert isinstance(plain.policy.backfill, Conservative)
