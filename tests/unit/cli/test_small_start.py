"""Modules that a command does not need are not loaded: its user would wait for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.plain import plain_environment

TINY = Path(__file__).parents[3] / "examples" / "tiny.swf"
NOT_NEEDED = ("numpy.ma", "pandas", "matplotlib", "rich", "yaml", "jinja2", "sqlalchemy", "h5py",
              "highspy", "multiprocessing", "wattline.books.events",
              "wattline.scenario.twin.planning", "wattline.shared_nodes", "wattline.site.topology",
              "wattline.policies.view")


def test_simulating_a_log_loads_neither_plots_nor_tables_nor_twins() -> None:
    code = ("import sys\nfrom wattline.cli.main import cli\n"
            f"cli.main(['simulate', {str(TINY)!r}, '--no-folder'], standalone_mode=False)\n"
            f"print(*(set({NOT_NEEDED}) & set(sys.modules)), file=sys.stderr)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=plain_environment())
    assert done.stderr.splitlines()[-1] == ""


def test_what_is_installed_is_looked_through_once() -> None:
    code = ("import importlib.metadata as installed, os\nfrom wattline.cli import main\n"
            "asked, real = [], installed.distributions\n"
            "installed.distributions = lambda: asked.append(1) or real()\n"
            "os.environ['PYDANTIC_DISABLE_PLUGINS'] = '__all__'\n"
            f"main.cli.main(['simulate', {str(TINY)!r}, '--no-folder'], standalone_mode=False)\n"
            "from wattline.model.kernel_cache import packages\npackages()\n"
            "assert asked == [1], asked\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=False, env=plain_environment())
    assert done.returncode == 0, done.stderr


def test_only_the_scenario_itself_has_its_validator_made() -> None:
    """Its sections are parts of it: every start would pay for making theirs once more."""
    code = ("from wattline.scenario.load import validate\n"
            "from wattline.scenario.model import (\n"
            "    ContractSection, MachineSection, NodeClassSection, PolicySection, PowerSection,\n"
            "    Scenario, TraceSection, TwinSection)\n"
            "from wattline.scenario.contract_section import PriceSection, SignalSection\n"
            "made = (Scenario, ContractSection, MachineSection, NodeClassSection, PolicySection,\n"
            "        PowerSection, PriceSection, SignalSection, TraceSection, TwinSection)\n"
            "validate({'trace': {'file': 'a.swf'}, 'machine': {'nodes': 4}}, 'here')\n"
            "print(*(each.__name__ for each in made if each.__pydantic_complete__))\n"
            "assert NodeClassSection(count=2).cores == 1\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=False, env=plain_environment())
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["Scenario"]
