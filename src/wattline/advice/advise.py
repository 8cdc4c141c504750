"""What people ask before they decide, under one name: `wl.advise.cap(...)`, and `job`, `policy`,
`start`.

>>> import wattline as wl
>>> trace = wl.generate("lublin", seed=1, jobs=30, nodes=32)
>>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
>>> advice = wl.advise.cap(trace, machine=machine, wait="+10%", policies=["dvfs"])
>>> advice.choices[0].cap_w < advice.peak_w
True
>>> advice = wl.advise.job("CG.A")
>>> advice.options[advice.best["energy"]].node_class
'xeon'
"""

from wattline.advice.cap import advise_cap
from wattline.advice.futures.policy import advise_policy
from wattline.advice.futures.start import advise_start
from wattline.advice.job import advise_job
from wattline.model.arguments import checked

cap = checked(advise_cap)
job = checked(advise_job)
policy = checked(advise_policy)
start = checked(advise_start)

__all__ = ["cap", "job", "policy", "start"]
