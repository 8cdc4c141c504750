"""Names in legends: whole where there is room, else with both their ends."""

from __future__ import annotations

import pytest

from wattline.analysis.drawing import NARROW, WIDTH, legend_above, sheet

BEST = "best energy, cost: odroid-c2, 1 node, 4 threads"


def legend(names: list[str], width: float = WIDTH, *, whole: bool = False) -> list[str]:
    figure, (axes,) = sheet(width=width)
    for name in names:
        axes.plot([1, 2], label=name)
    legend_above(axes, whole=whole)
    figure.draw_without_rendering()
    (found,) = figure.legends
    box = found.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    return [text.get_text() for text in found.get_texts()]


@pytest.mark.parametrize("width", [WIDTH, NARROW])
def test_a_name_that_has_room_is_whole(width: float) -> None:
    name = BEST if width == WIDTH else BEST[:48]
    assert legend(["claimed", "nothing is faster and thriftier", name], width)[-1] == name


def test_a_name_without_room_keeps_both_its_ends() -> None:
    long = "first " + "x" * 80 + " last"
    *_, shown = legend(["claimed", long])
    assert len(shown) < len(long)
    assert (shown[:6], shown[-5:]) == ("first ", " last")
    assert legend(["claimed", long], whole=True)[-1] == long
