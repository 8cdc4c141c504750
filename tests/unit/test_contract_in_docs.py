"""Policies that the documentation shows are run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.plain import ROOT, plain_environment

from wattline.testing import PolicyContract


def block(page: str, name: str) -> str:
    """The Python of a page that begins with the name of its file."""
    text = (ROOT / page).read_text(encoding="utf-8")
    (found,) = re.findall(rf"```python\n(# {re.escape(name)}\n.*?)```", text, re.DOTALL)
    return str(found)


def contract_tests(folder: Path, policies: str) -> subprocess.CompletedProcess[str]:
    (folder / "our_policies.py").write_text(policies)
    tests = block("docs/policies.md", "test_our_policies.py")
    (folder / "test_our_policies.py").write_text(tests)
    environment = plain_environment()
    environment["PYTHONPATH"] = f"{environment['PYTHONPATH']}:{folder}"
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # authors need none of ours
    return subprocess.run([sys.executable, "-m", "pytest", "-q", str(folder)], cwd=folder,
                          env=environment, capture_output=True, text=True, check=False)


def test_the_example_for_authors_keeps_the_contract(tmp_path: Path) -> None:
    done = contract_tests(tmp_path, block("CONTRIBUTING.md", "our_policies.py"))
    assert done.returncode == 0, done.stdout[-2000:]
    clauses = sum(name.startswith("test_") for name in dir(PolicyContract))
    assert f"{2 * clauses} passed" in done.stdout


@pytest.mark.long  # three seconds; tests/contract/test_broken_policies.py breaks it in more ways
def test_the_example_with_another_order_than_it_says_does_not(tmp_path: Path) -> None:
    largest_first = block("CONTRIBUTING.md", "our_policies.py").replace(
        "return float(", "return -float(")
    done = contract_tests(tmp_path, largest_first)
    assert done.returncode == 1
    assert "first in the queue, was promised" in done.stdout
