"""Verdicts follow from figures, and what was not run says so."""

from pathlib import Path

import pytest

from wattline.studies.dragonfly.published import HEAD, page, rows

PAGE = Path(__file__).parents[3] / "docs" / "published" / "dragonfly.md"

AGAINST = {"strictly_better": 0.60, "strictly_worse": 0.01, "tied": 0.1, "mean_reduction": 0.30,
           "max_reduction": 0.5}


def found(**parts):
    return {row[1]: row for row in rows(parts)}


def test_without_results_every_figure_is_named_and_not_run():
    empty = rows({})
    assert {row[4] for row in empty} == {"not run", "missing"}
    assert {row[0] for row in empty} == {"3.4.1", "3.4.2", "3.4.4", "3.4.5", "3.4.6", "3.6.2",
                                         "3.6.3", "3.6.4", "3.8"}
    assert all(len(row) == len(HEAD) and all(isinstance(cell, str) for cell in row)
               for row in empty)


def test_verdicts_compare_the_two_figures():
    jokanovic = {"strictly_better": 0.0, "strictly_worse": 0.02, "mean_reduction": 0.0}
    ours = found(packets_in_steps={
        **AGAINST, "workloads": 7, "runs": 2, "jokanovic": jokanovic,
        "jokanovic_code": {"strictly_better": 0.66, "strictly_worse": 0.0},
        "large_first": {**AGAINST, "jokanovic_code": jokanovic}})
    verdict = {what: row[4] for what, row in ours.items()}
    assert verdict["strictly better than seven baselines, packets in steps"] == "holds"
    assert verdict["mean cut against seven baselines, packets in steps"] == "holds, larger"
    assert verdict["best cut against seven baselines, packets in steps"] == "holds, smaller"
    assert verdict["strictly better than Jokanovic's policy as in the code, packets in steps"] == (
        "holds")
    assert verdict["strictly worse than Jokanovic's policy as in the text, packets in steps"] == (
        "fails")
    assert verdict["large jobs first, seven baselines, packets in steps"] == "holds on average"
    assert verdict["large jobs first, Jokanovic's policy as in the code, packets in steps"] == (
        "fails")
    assert "7 workloads x 2 runs" in ours["best cut against seven baselines, packets in steps"][5]


@pytest.mark.parametrize(("cut", "verdict"), [
    ((0.2, 0.5), "holds"), ((0.1, 0.4), "holds in part"),
    ((0.3, 0.4), "holds, within the range"), ((0.01, 0.05), "holds, smaller"),
    ((-0.2, -0.1), "fails")])
def test_ranges(cut, verdict):
    row = found(reductions={"sixty_four_nodes": cut, "sixteen_nodes": cut})
    assert row["64-node jobs, Level-Spread against simple, ratio 1: cut of time (flows)"][4] == (
        verdict)


def test_the_page_is_a_table():
    text = page({}, "`wattline study dragonfly`")
    assert text.count("\n|") == len(rows({})) + 2
    assert "`wattline study dragonfly`" in text


def test_the_page_of_the_docs_has_every_figure():
    cells = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines()
             if line.startswith("| 3.")]
    assert [(row[0], row[1]) for row in cells] == [(row[0], row[1]) for row in rows({})]
    assert all(row[4].split(",")[0] in ("holds", "holds in part", "holds on average", "fails",
                                        "missing", "not run") for row in cells)
