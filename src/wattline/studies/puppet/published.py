"""Every published figure and claim of the study beside ours, with a verdict, for one page."""

from __future__ import annotations

from wattline.studies.puppet.study import PuppetResult
from wattline.studies.puppet.verdicts import StudyFinding

NOT_HERE = (
    ("section 4.2, figures 7 to 9", "validation against measured power (errors up to 3.84 %)",
     "the power data of the machine are not public"),
    ("figures 10 to 16", "heights of bars and curves",
     "printed as pictures only; the claims of the text are above"),
)


def rows(results: PuppetResult) -> list[tuple[str, ...]]:
    """Section, what, published, ours, verdict, why."""
    found: list[tuple[str, ...]] = [
        (finding.source, finding.claim, "holds", _ours(finding), finding.verdict, finding.why)
        for finding in results.findings]
    found += [
        ("table 2", f"largest error of a day's energy, step {row.step_min} min",
         f"{row.published_error:.2%}",
         f"{row.replayed:.2%} with starts kept, {row.error:.1%} with a schedule of its own",
         "not reproduced",
         "another quantity; published against measured power, ours against the exact run")
        for row in results.steps]
    found += [(section, what, "yes", "-", "not reproduced", why) for section, what, why in NOT_HERE]
    return found


def _ours(finding: StudyFinding) -> str:
    judgement = finding.judgement
    return f"{judgement.right} of {judgement.cases} cases" + (
        f"; worst: {judgement.worst}" if judgement.worst else "")
