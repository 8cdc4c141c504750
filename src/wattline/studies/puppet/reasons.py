"""Why a claim of the published study may fail on another log: the mechanism, for people."""

from __future__ import annotations

_CHAOS = ("A schedule that differs early differs everywhere after, so a single part can go the "
          "other way by a few per cent; the means say where it goes.")

REASONS = {
    "wait-never-worse-than-block":
        "Utilisation and EDP hang on when the last large job of a part ends; letting small jobs "
        "pass can move that end either way, by a per cent or two.",
    "dvfs-trades-waiting-for-edp": _CHAOS,
    "cubic-alpha-hurts-least": _CHAOS,
    "tight-cap-worsens-edp-under-load":
        "EDP rises only where slow jobs lengthen the whole schedule; where the machine has room "
        "to spare they save energy at little cost, and the load of a part decides which it is.",
    "allocation-lowers-use-raises-edp": _CHAOS,
    "wfp-waiting-grows-less":
        "The wait without a cap is shorter under WFP, too, so the same minutes are a larger "
        "ratio; the minutes added are among the figures.",
    "always-under-the-cap":
        "This must not happen: please report it with the log.",
    "busy-months-suffer-more":
        "The parts of this log differ less in load, or single large jobs that wait for power in a "
        "quieter part weigh more than the load does.",
    "dvfs-tighter-cap-more-utilisation":
        "Under the tightest cap the lowest level no longer carries all nodes: jobs wait for power "
        "and nodes stand idle.",
    "higher-beta-does-not-raise-edp":
        "A slower job that takes longer lengthens the schedule, and with beta above alpha times "
        "the cores' share it costs more energy, too; on this log that outweighs what is saved on "
        "idle nodes.",
    "tight-cap-hits-allocation-harder": _CHAOS,
    "idle-power-matters-more-when-busy": _CHAOS,
    "idle-power-matters-more-under-wfp":
        "The two orders differ little in utilisation here, and with it in idle nodes.",
}
