"""The Grafana dashboard has the types that Grafana's own schema asks for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NEEDED = ("@grafana/schema@13.2.3", "typescript@7.0.2")


@pytest.mark.long
def test_grafanas_own_types_take_the_dashboard(tmp_path: Path) -> None:
    """TypeScript judges, as there is no Grafana to import it into."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm to get Grafana's schema with")
    got = subprocess.run([npm, "install", "--ignore-scripts", "--no-audit", "--no-fund",
                          "--prefix", str(tmp_path), *NEEDED], cwd=tmp_path, capture_output=True,
                         text=True, timeout=240, check=False)
    if got.returncode != 0:
        pytest.skip(f"npm cannot get Grafana's schema: {got.stderr[-200:]}")
    dashboard = (ROOT / "examples/grafana/wattline.json").read_text(encoding="utf-8")
    # The one enumeration in it is a type of its own, which JSON cannot name.
    typed = dashboard.replace('"absolute"', "ThresholdsMode.Absolute")
    (tmp_path / "judged.ts").write_text(
        'import { type Dashboard, ThresholdsMode } from "@grafana/schema";\n'
        f"const made: Dashboard = {typed};\nexport default made;\n",
        encoding="utf-8")
    judged = subprocess.run(
        [str(tmp_path / "node_modules/.bin/tsc"), "--noEmit", "--strict", "--skipLibCheck",
         "--moduleResolution", "bundler", "--module", "esnext", "--target", "es2022", "judged.ts"],
        cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert judged.stdout == ""
    assert judged.returncode == 0
