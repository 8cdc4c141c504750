"""One small site and a Slurm in memory beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.controller.test_modes import SITE, OneSlurm

from wattline.controller import serving as serving_module
from wattline.controller.configuration import SiteConfig, read_configuration


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> OneSlurm:
    made = OneSlurm()
    monkeypatch.setattr(serving_module, "Slurm", lambda commands: made)
    return made


@pytest.fixture
def site(tmp_path: Path) -> SiteConfig:
    (tmp_path / "site.toml").write_text(SITE)
    return read_configuration(tmp_path / "site.toml")
