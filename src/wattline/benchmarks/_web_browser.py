"""What a person sees: first paint, and the curve after a click, read from a real Chromium.

The browser is Debian's, driven by playwright, as in the tests of the pages. Neither comes with the
package: where one is missing, that is said in place of figures.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from statistics import median
from typing import Any

from wattline.benchmarks._web_server import cpu_s

VISITS = 5
CLICKS = 5
PATIENCE_MS = 300_000
SIZE = {"width": 1440, "height": 900}
WHEN_COMPLETE = """
window.complete = new Promise((done) => {
  new MutationObserver((_, watch) => {
    if (!document.querySelector('[data-tile="Power"] .value')) return;
    if (!document.querySelector('.map canvas')) return;
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
  }).observe(document, { childList: true, subtree: true });
});
"""
PAINTS = """async () => {
  const complete = await window.complete;
  const of = (name) => performance.getEntriesByName(name)[0]?.startTime ?? null;
  return { first_paint_s: of("first-paint") / 1e3,
    first_content_s: of("first-contentful-paint") / 1e3, complete_s: complete / 1e3 };
}"""
WATCH_CURVE = """(said) => {
  const line = document.querySelector(".working");
  window.curve_s = new Promise((done) => {
    let clicked = null;
    document.querySelector("input[type=range]").addEventListener("input", (event) => {
      clicked ??= event.timeStamp;
    }, { once: true });
    new MutationObserver((_, watch) => {
      if (!line.textContent.startsWith(said)) return;
      watch.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() =>
        done((performance.now() - clicked) / 1e3)));
    }).observe(line, { childList: true, characterData: true, subtree: true });
  });
}"""


def why_no_browser() -> str | None:
    """What is missing for these figures; None where nothing is."""
    if find_spec("playwright") is None:
        return "playwright is not installed (pip install playwright)"
    if shutil.which("chromium") is None:
        return "there is no chromium (Debian's package chromium)"
    return None


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=shutil.which("chromium"))
        try:
            yield opened
        finally:
            opened.close()


def first_paint(url: str, pid: int, visits: int = VISITS) -> dict[str, Any]:
    """Seconds from opening the first page, each time with nothing kept from before.

    `complete_s` is when figures and the map of nodes are painted. Processor time is all of the
    browser's processes': where other work holds the machine, times by the clock say little.
    """
    missing = why_no_browser()
    if missing:
        return {"not_measured": missing}
    with chromium() as browser:
        _visit(browser, url)  # the browser itself is still starting
        before_s = _browser_cpu_s(pid)
        seen = [_visit(browser, url) for _ in range(visits)]
        used_s = (_browser_cpu_s(pid) - before_s) / visits
        return {"browser": f"Chromium {browser.version}", "visits": visits, **{
            name: median(each[name] for each in seen) for name in seen[0]},
            "slowest_first_paint_s": max(each["first_paint_s"] for each in seen),
            "browser_cpu_s": used_s}


def click_to_curve(
    url: str, pid: int, share: str, clicks: int = CLICKS
) -> dict[str, Any]:
    """Seconds from moving the cap by a key until the new curves are painted, of a warm server.

    `share` is the question that the page is opened with. The pause in which the page waits for
    the next move is counted in.
    """
    missing = why_no_browser()
    if missing:
        return {"not_measured": missing}
    with chromium() as browser:
        page = browser.new_page(viewport=SIZE)
        _open_question(page, f"{url}/#/whatif?s={share}")
        _ask_next_cap(page)
        before_s = cpu_s(pid), _browser_cpu_s(pid)
        took_s = [_ask_next_cap(page) for _ in range(clicks)]
        used_s = cpu_s(pid) - before_s[0], _browser_cpu_s(pid) - before_s[1]
        compared = page.locator('[data-tile="Later than before"] .more').inner_text()
        return {"browser": f"Chromium {browser.version}", "clicks": clicks,
                "jobs": int(compared.split()[1].replace(",", "")), "median_s": median(took_s),
                "slowest_s": max(took_s), "server_cpu_s": used_s[0] / clicks,
                "browser_cpu_s": used_s[1] / clicks}


def _browser_cpu_s(pid: int) -> float:
    """Processor seconds of all that this process started, the server left out."""
    return cpu_s(os.getpid()) - cpu_s(pid)


def _visit(browser: Any, url: str) -> dict[str, float]:
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(WHEN_COMPLETE)
    page.goto(f"{url}/#/now")
    found: dict[str, float] = page.evaluate(PAINTS)
    context.close()
    return found


def _open_question(page: Any, address: str) -> None:
    """The page of a what-if with its first answer shown."""
    page.goto(address)
    page.locator(".working:has-text('simulated in'), [role=alert]").first.wait_for(
        timeout=PATIENCE_MS)
    wrong = page.get_by_role("alert").all_inner_texts()
    if wrong:
        raise RuntimeError(f"the page of the what-if says: {wrong[0]}")


def _ask_next_cap(page: Any) -> float:
    """A cap one percent lower, which nobody has asked for: until its curves are there."""
    slider = page.get_by_role("slider")
    page.evaluate(WATCH_CURVE, f"cap of {int(slider.input_value()) - 1} %")
    slider.press("ArrowLeft")
    return float(page.evaluate("() => window.curve_s"))
