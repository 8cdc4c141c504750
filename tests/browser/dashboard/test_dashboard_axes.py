"""The text along the axes of charts, which is drawn and so in no element: seen as it is drawn."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from tests.browser.conftest import Looking
from tests.support.dashboard import Dashboard

from .conftest import Visit, loaded, until

pytestmark = pytest.mark.browser
LEAST_PX = 9.5
REMEMBER = """
const texts = new Map();
const kept = CanvasRenderingContext2D.prototype;
const { fillText, clearRect } = kept;
kept.clearRect = function (x, y, width, height) {
  if (width >= this.canvas.width) texts.delete(this.canvas);
  return clearRect.call(this, x, y, width, height);
};
kept.fillText = function (text, x, y, ...more) {
  const at = this.getTransform(), size = this.measureText(text), scale = devicePixelRatio;
  if (!texts.has(this.canvas)) texts.set(this.canvas, []);
  texts.get(this.canvas).push({ text, font: this.font, upright: at.b === 0,
    left: (at.e + x - size.actualBoundingBoxLeft) / scale,
    right: (at.e + x + size.actualBoundingBoxRight) / scale,
    top: (at.f + y - size.actualBoundingBoxAscent) / scale,
    bottom: (at.f + y + size.actualBoundingBoxDescent) / scale });
  return fillText.call(this, text, x, y, ...more);
};
window.axisTexts = () => [...texts].filter(([canvas]) => canvas.isConnected
  && canvas.closest(".uplot")).map(([canvas, drawn]) => ({ drawn,
  width: canvas.width / devicePixelRatio, height: canvas.height / devicePixelRatio }));
"""


def charts(seen: Looking, page: str) -> list[dict[str, Any]]:
    seen.page.add_init_script(REMEMBER)
    seen.page.reload()
    loaded(seen, page)
    until(seen, "() => window.axisTexts().some(chart => chart.drawn.length > 3)")
    return list(seen.page.evaluate("() => window.axisTexts()"))


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["left"] < other["right"] and other["left"] < one["right"]
                and one["top"] < other["bottom"] and other["top"] < one["bottom"])


def pixels(font: str) -> float:
    """Of a font as a canvas writes it: `400 11px system-ui`."""
    return float(font.partition("px")[0].split()[-1])


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize(("address", "page"), [
    ("now", "now"), ("job/6", "job"), ("accounts", "accounts"), ("plan/configure", "plan")])
def test_text_along_axes_can_be_read_and_lies_over_no_other(
    served: Dashboard, visit: Visit, address: str, page: str, width: int
) -> None:
    seen = visit(served, address, width=width)
    found = charts(seen, page)
    family = seen.page.evaluate("() => getComputedStyle(document.body).fontFamily")
    ratio = seen.page.evaluate("() => devicePixelRatio")
    for chart in found:
        texts = [each for each in chart["drawn"] if each["text"].strip()]
        assert len(texts) >= 4
        for each in texts:
            assert pixels(each["font"]) / ratio >= LEAST_PX, each
            assert family.split(",")[0].strip('"') in each["font"], each
        upright = [each for each in texts if each["upright"]]
        for each in upright:
            assert -1 <= each["left"] <= each["right"] <= chart["width"] + 1, each
            assert -1 <= each["top"] <= each["bottom"] <= chart["height"] + 1, each
        assert not [(one["text"], other["text"]) for one, other in combinations(upright, 2)
                    if overlap(one, other)]
    assert seen.wrong == []
