"""Bounds below the root: a full rack is passed over, and a job waits rather than exceed one."""

from tests.support.plain import in_plain


def test_a_rack_with_a_limit_takes_fewer_jobs():
    """Two racks of four nodes, 100 W idle, 300 W busy. The first may draw 800 W: two busy nodes.

    Three jobs of two nodes: the first takes n0 and n1, the second and third go to the other rack
    (n4 to n7) although n2 and n3 are free; a fourth has to wait for the first to end.
    """
    result = in_plain("""
        from wattline.engine.prepare import Rules
        from wattline.engine.simulate import simulate
        from wattline.model.jobs import JobTable
        from wattline.model.machine import Machine, NodeClass
        from wattline.model.views.build import power_view
        from wattline.policies.placement.bounded_setup import bounded
        from tests.support.workloads import compose
        machine = Machine.uniform(8, NodeClass(power_w_idle=100, power_w_active=300),
                                  nodes_per_rack=4)
        view = power_view(machine, limits_w={"rack0": 800})
        jobs = JobTable.build(submit_s=[0, 0, 0, 0], run_s=[50, 100, 100, 10], procs=[2] * 4)
        placement = bounded(view, 8)
        run = simulate(jobs, machine, compose(placement=placement), Rules(choose_nodes=True))
        result = [run.schedule.start_s.tolist(), run.placement.first.tolist(),
                  placement.room_w[view.tree.of("rack0")]]
    """)
    starts, first, room = result
    assert starts == [0, 0, 0, 50]
    assert first == [0, 4, 6, 0]
    assert room == 400


def test_the_bound_of_the_site_holds_too():
    result = in_plain("""
        from wattline.engine.prepare import Rules
        from wattline.engine.simulate import simulate
        from wattline.model.jobs import JobTable
        from wattline.model.machine import Machine, NodeClass
        from wattline.model.views.build import power_view
        from wattline.policies.placement.bounded_setup import bounded
        from tests.support.workloads import compose
        machine = Machine.uniform(4, NodeClass(power_w_idle=100, power_w_active=300),
                                  nodes_per_rack=2)
        view = power_view(machine, site_limit_w=800)
        jobs = JobTable.build(submit_s=[0, 0, 0], run_s=[10, 20, 5], procs=[1] * 3)
        run = simulate(jobs, machine, compose(placement=bounded(view, 4)),
                       Rules(choose_nodes=True))
        result = [run.schedule.start_s.tolist(), run.power_w_peak]
    """)
    assert result == [[0, 0, 10], 800]


def test_a_scenario_names_bounds():
    result = in_plain("""
        from wattline.scenario.api import simulate
        from wattline.model.errors import InputError
        fields = dict(trace__generate="lublin", trace__jobs=60, machine__nodes=64,
                      machine__node_idle_w=100, machine__node_active_w=300,
                      machine__nodes_per_rack=8)
        run = simulate(**fields, policy__placement={"name": "bounded", "limits": {"site": "14kW"}})
        try:
            simulate(**fields, policy__placement="bounded")
            reason = ""
        except InputError as error:
            reason = str(error)
        result = [run.power_w_peak, reason]
    """)
    assert 6400 < result[0] <= 14000
    assert "bounded needs limits" in result[1]


def test_bounds_and_fair_share_by_joules_go_together():
    """Each keeps its own books: the bound holds, and the order is that without a bound."""
    result = in_plain("""
        from wattline.scenario.api import simulate
        fields = dict(trace__generate="lublin", trace__jobs=80, machine__nodes=64,
                      machine__node_idle_w=100, machine__node_active_w=300,
                      policy__order={"name": "energy-share", "age": 0.1})
        free = simulate(**fields, policy__placement="first-fit")
        wide = simulate(**fields, policy__placement={"name": "bounded", "limits": {"site": "1MW"}})
        tight = simulate(**fields, policy__placement={"name": "bounded",
                                                      "limits": {"site": "14kW"}})
        result = [free.schedule.start_s.tolist(), wide.schedule.start_s.tolist(),
                  free.power_w_peak, tight.power_w_peak, int(tight.ran.sum())]
    """)
    free, wide, free_peak_w, peak_w, ran = result
    assert free == wide
    assert free_peak_w > 14000 >= peak_w
    assert ran > 0


def test_a_job_that_no_idle_machine_could_hold_is_refused():
    """Two racks of two nodes, 100 W idle, 300 W busy; the first may draw 400 W: one busy node.

    Three nodes busy is the most. The job of four is refused and holds nobody up; it would wait for
    ever, and with it all behind it.
    """
    result = in_plain("""
        from wattline.engine.prepare import Rules
        from wattline.engine.simulate import simulate
        from wattline.model.jobs import JobTable
        from wattline.model.machine import Machine, NodeClass
        from wattline.model.views.build import power_view
        from wattline.policies.placement.bounded_setup import bounded
        from tests.support.workloads import compose
        machine = Machine.uniform(4, NodeClass(power_w_idle=100, power_w_active=300),
                                  nodes_per_rack=2)
        view = power_view(machine, limits_w={"rack0": 400})
        jobs = JobTable.build(submit_s=[0, 1, 2], run_s=[10, 10, 10], procs=[4, 3, 4])
        run = simulate(jobs, machine, compose(placement=bounded(view, 4)),
                       Rules(choose_nodes=True))
        slowed = simulate(jobs, machine, compose(placement=bounded(view, 4, 0.5)),
                          Rules(choose_nodes=True))
        result = [run.ran.tolist(), float(run.schedule.start_s[1]), slowed.events.value.tolist()]
    """)
    ran, start_s, marks = result
    assert ran == [False, True, False]
    assert start_s == 1
    assert 1.0 not in marks  # at half the power all four fit: nobody is refused
