"""What the slides say of fair-share by energy, beside ours."""

from __future__ import annotations

from wattline.studies.fairshare.study import ShareResult, figures


def rows(results: ShareResult) -> list[tuple[str, ...]]:
    """Section, what, published, ours, verdict, why."""
    mean = {user: f["mean"] for user, f in figures(results)["orders"]["energy fair-share"].items()}
    best = min(mean, key=lambda user: mean[user])
    told = ", ".join(f"{user} {value:.1f}" for user, value in mean.items())
    return [
        ("energy fair-sharing", "60 similar jobs of an efficient user and two normal ones "
         "(on demand, 2.3 GHz): the efficient one has the lowest stretch", "yes (a picture)", told,
         "holds" if best == "efficient" else "fails", "mean stretch; part of it is that slower "
         "jobs have longer run times to be divided by"),
        ("energy fair-sharing", "distribution of the stretch", "a picture without figures",
         "drawn by --out", "not reproduced", "only the shape can be compared"),
        ("energy fair-sharing", "time and energy of Linpack by frequency on 180 cores",
         "a picture without figures", "beta 0.7 and the powers of the emulated cluster",
         "not reproduced", "assumed; the calibration is not printed"),
    ]
