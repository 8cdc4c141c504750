"""Take the pictures of the dashboard for the documentation: the real pages over the demo.

    python scripts/shoot_pages.py                     all of them, into docs/images
    python scripts/shoot_pages.py --folder F --every  each page, large, on a phone and in the dark

It starts `wattline serve --demo`, and needs playwright and Debian's chromium. The first what-if of
an installation is compiled, for up to some minutes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.dashboard import Dashboard  # noqa: E402

LARGE, TALL, PHONE = (1440, 900), (1440, 1200), (390, 844)
PATIENCE_MS = 400_000
COLOURS = 200


@dataclass(frozen=True)
class Shot:
    name: str
    page: str
    ready: str
    """Text that stands on the page when it is complete."""
    size: tuple[int, int] = LARGE
    dark: bool = False
    press: str | None = None
    """A button to press first."""
    slide: bool = False
    """True to move the cap first: then nothing has to be compiled, as for most questions."""


PAGES = {"now": '.map canvas >> nth=0', "jobs": "tbody tr >> nth=9", "job/6": ".uplot",
         "accounts": ".uplot >> nth=0", "whatif": ".answer .uplot >> nth=1",
         "plan/configure": ".uplot", "plan/procure": ".uplot >> nth=2", "plan/placement": ".placed",
         "plan/bid": ".surface svg >> nth=0"}
SHOTS = (
    Shot("now", "now", PAGES["now"]), Shot("now-phone", "now", PAGES["now"], PHONE, dark=True),
    Shot("job", "job/6", PAGES["job/6"], TALL), Shot("accounts", "accounts", PAGES["accounts"]),
    Shot("whatif", "whatif", PAGES["whatif"], slide=True),
    Shot("plan", "plan/configure", PAGES["plan/configure"], dark=True),
)


def every() -> list[Shot]:
    """Each page at each size and in both colours, to look at."""
    return [Shot(f"{page.replace('/', '-')}-{size[0]}{'-dark' * dark}", page, ready, size, dark,
                 "Compute" if page == "plan/bid" else None)
            for page, ready in PAGES.items() for size in (LARGE, PHONE) for dark in (False, True)]


def shoot(browser: Any, address: str, shot: Shot, folder: Path) -> None:
    width, height = shot.size
    context = browser.new_context(viewport={"width": width, "height": height},
                                  color_scheme="dark" if shot.dark else "light")
    page = context.new_page()
    page.goto(f"{address}#/{shot.page}")
    if shot.press is not None:
        page.get_by_role("button", name=shot.press).click(timeout=PATIENCE_MS)
    page.locator(shot.ready).wait_for(timeout=PATIENCE_MS)
    if shot.slide:
        page.get_by_role("slider").press("ArrowDown")
        page.wait_for_timeout(6000)
    page.wait_for_timeout(1500)
    path = folder / f"{shot.name}.png"
    page.screenshot(path=path)
    context.close()
    # Few colours are enough for pages, and a third of the bytes.
    with Image.open(path) as seen:
        seen.convert("RGB").quantize(COLOURS).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--every", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        served = Dashboard(Path(folder), plain=False)
        served.start()
        try:
            served.wait()
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
            for shot in every() if given.every else SHOTS:
                shoot(browser, served.address, shot, given.folder)
            browser.close()
        finally:
            served.kill()


if __name__ == "__main__":
    main()
