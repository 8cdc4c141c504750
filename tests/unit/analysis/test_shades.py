"""Shades between steps are drawn as matplotlib's own stairs are, to the byte."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.thinned import crossed

from wattline.analysis.drawing import picture_bytes, shade, sheet

X = np.array([0.0, 1.0, 4.0, 5.0])
LOWS = {"from zero": np.zeros(3), "between": np.array([1.0, 2.0, 0.5]),
        "flat": np.full(3, 2.0), "below zero": np.array([-3.0, 0.0, -1.0])}
HEIGHTS = {"steps": np.array([1.0, 0.0, 2.5]), "none": np.zeros(3)}


@pytest.mark.parametrize(("lowest", "heights", "limited"), crossed(
    list(LOWS), list(HEIGHTS), [False, True], later=pytest.mark.long))
def test_a_shade_is_drawn_as_stairs_are(lowest, heights, limited):
    low, height = LOWS[lowest], HEIGHTS[heights]
    drawn = []
    for ours in (False, True):
        figure, (axes,) = sheet()
        if ours:
            shade(axes, low, low + height, X, facecolor="#0072B2", alpha=0.25, label="a")
        else:
            axes.stairs(low + height, X, baseline=low, fill=True, color="#0072B2", alpha=0.25,
                        label="a")
        axes.step(X, np.append(low, low[-1]), where="post")
        if limited:
            axes.set_ylim(bottom=0)
        axes.legend()
        drawn.append(picture_bytes(figure, "png"))
    assert drawn[0] == drawn[1]
