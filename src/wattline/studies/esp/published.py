"""What the slides print of the power-adaptive validation, beside ours."""

from __future__ import annotations

from wattline.studies.esp.study import EspCase, figures

MIN_W, MAX_W = 564_480.0, 1_774_080.0
"""`scontrol show powercap` of the emulated cluster, as printed."""
PICTURE = "a picture without figures"


def rows(results: list[EspCase]) -> list[tuple[str, ...]]:
    """Section, what, published, ours, verdict, why."""
    machine = results[0].run.machine
    found: list[tuple[str, ...]] = [
        ("powercap configuration", "MinWatts, MaxWatts of 5,040 nodes",
         f"{MIN_W:.0f} W, {MAX_W:.0f} W",
         f"{machine.power_w_idle:.0f} W, {machine.power_w_max:.0f} W",
         "holds" if (machine.power_w_idle, machine.power_w_max) == (MIN_W, MAX_W) else "fails",
         ""),
        ("testbed", "Light-ESP, 230 jobs of 8 profiles (sizes, execution times)",
         "sizes and times are not printed", f"{len(results[0].run.jobs)} jobs",
         "not reproduced", "inferred; the benchmark's types have eight sizes; a profile is a "
         "size with its mean run time"),
    ]
    for case in results:
        told = figures(case)
        found.append((
            "power-adaptive validation", f"power and utilisation, {case.title}", PICTURE,
            f"{told['time_above_cap_s']:.0f} s above the cap, {told['makespan_s']:.0f} s, "
            f"{100 * told['utilisation']:.0f} % in use", "not reproduced",
            ("cap kept once running jobs permit" if told["time_above_cap_s"] else "cap kept")
            + _never_ran(told["refused"]) + "; only the shape can be compared"))
    found.append(("scaling validation", "power and utilisation, powercap INFINITE beside none",
                  PICTURE, "the run without a cap", "not reproduced",
                  "it shows what looking at every node's power costs Slurm; an infinite cap is "
                  "none in a simulation"))
    found.append(("testbed", "5,040 nodes emulated on 18 physical nodes (16 in the captions of the "
                  "pictures)", "18; 16", "-", "not reproduced",
                  "nodes are simulated here, and none is emulated"))
    return found


def _never_ran(refused: dict[str, int]) -> str:
    if not refused:
        return ""
    told = ", ".join(f"{count} of profile {name}" for name, count in refused.items())
    return f"; jobs that never ran, as they alone would be above it: {told}"
