# %% [markdown]
# # A tour of Wattline from Python
#
# Cells are marked with `# %%`: editors and notebooks run them one by one, Python runs them all.

# %%
from pathlib import Path

import wattline as wl

HERE = Path(__file__).parent

# %% [markdown]
# ## Simulate
#
# A scenario file, or a log with fields of the scenario; `__` stands for the dot.

# %%
run = wl.simulate(HERE / "small.toml")
energy_kwh, peak_kw = run.energy_j / 3.6e6, run.power_w_peak / 1e3
print(f"{len(run.jobs)} jobs, {energy_kwh:,.0f} kWh, peak {peak_kw:,.1f} kW")

own = wl.simulate(trace=HERE / "tiny.swf", machine__nodes=8, machine__cores_per_node=8)
print(f"the log of twelve jobs takes {own.end_s - own.start_s:,.0f} s")

# %% [markdown]
# ## Results are tables
#
# Arrow tables, one row a job or an event; pandas is one call away.

# %%
jobs = wl.job_table(run).to_pandas()
jobs["wait_s"] = jobs["start_s"] - jobs["submit_s"]
print(jobs[["job_id", "submit_s", "start_s", "end_s", "nodes", "energy_j"]].head())
print(jobs.groupby("nodes")["wait_s"].mean().round().head())

events = wl.event_table(run).to_pandas()
print(events[["time_s", "kind", "power_w"]].head())

# %% [markdown]
# ## Metrics
#
# The same figures as `wattline simulate --json`.

# %%
figures = wl.metrics(run)
print(f"mean wait {figures['wait_s']['mean']:,.0f} s, utilisation {figures['utilisation']:.1%}")
print(f"above the cap for {figures['time_above_cap_s']:,.0f} s")

# %% [markdown]
# ## What if?
#
# The same jobs on larger machines.

# %%
for nodes in (256, 288, 320):
    other = wl.simulate(HERE / "small.toml", machine__nodes=nodes)
    wait_s = wl.metrics(other)["wait_s"]["mean"]
    print(f"{nodes} nodes: mean wait {wait_s:,.0f} s, {other.energy_j / 3.6e6:,.0f} kWh")

# %% [markdown]
# ## A generated workload, and a policy of one's own
#
# Any object with `decide(view)` is a policy.


# %%
class Patient:
    """Start jobs in order, but only ever one at a time."""

    def decide(self, view):
        if not view.running and view.queue:
            yield wl.Start(view.queue[0].job)


trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
alone = wl.simulate(trace=trace, machine__nodes=32, policy=Patient())
print(f"one at a time: {wl.metrics(alone)['wait_s']['mean']:,.0f} s mean wait")
