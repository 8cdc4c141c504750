"""Mistakes in a request are said in words of the API: no file, no library, no shell."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.support.asking import Asking
from tests.support.demos import KeptDemo
from tests.unit.web.asking import CAPPED

from wattline.web.app import create_app

FOREIGN = re.compile(r"[Ii]nput should|should (have|match|be)|\[\[|tuple\[|dict\[|constrained|"
                     r"written as|WATTLINE_|Traceback|Value error|Not Found|--\w|"
                     r"\b(None|True|False|NoneType|tuple|dict)\b")
BUYING = {"budget_power_w": 1e4, "node_power_w_max": 200, "node_power_w_min": 100,
          "speed_ratio": 0.5}
ASKING = Asking(create_app(KeptDemo(speed=0.0, jobs=20)))


def asked(**sections: Any) -> dict[str, Any]:
    fields = json.loads(json.dumps(CAPPED))
    for section, values in sections.items():
        fields[section] = {**fields.get(section, {}), **values} if isinstance(values, dict) else (
            values)
    return dict(fields)


@pytest.mark.parametrize(("path", "body", "said"), [
    ("whatif/share", asked(power={"cap": [5]}), "power.cap: a list holds steps, each with time_s"),
    ("whatif/share", asked(power=5), "power: must be an object (it is 5)"),
    ("whatif/share", asked(reservations=5), "reservations: must be a list (it is 5)"),
    ("whatif/share", asked(shares=5), 'shares: must be an object, like {"name": 1} (it is 5)'),
    ("whatif/share", asked(trace={"file": "/etc/passwd"}), "trace.file: name a log"),
    ("whatif/share", asked(policy={"order": {"name": "wfp", "exponent": 99}}),
     "policy.order: 'wfp': exponent: must be at least 0 and at most 20 (it is 99)"),
    ("whatif/share", [], "the body must be an object, in JSON"),
    ("plan/placement", {"jobs": []}, "jobs: must have at least 1 value (it has 0)"),
    ("plan/placement", {"jobs": [5]}, "jobs.0: must be an object (it is 5)"),
    ("plan/procure", {**BUYING, "scaling": {}}, "scaling: must be a text, in quotes (it is {})"),
    ("plan/configure", {"application": "a/b", "power_w": 1}, "application: must be made of"),
    ("operator/preview", {"action": "set_cap", "value": "x"}, "value: must be an object"),
    ("operator/preview", {"action": "set_cap", "value": {}}, "watts is not given, must be"),
    ("operator/preview", {"action": "set_cap", "value": {"watts": True}}, "watts is true, must"),
    ("operator/preview", {"action": "reserve", "value": {"watts": 5, "duration_s": None}},
     "duration_s is null, must be a number above 0"),
    ("operator/preview", {"action": "set_mode", "value": {"mode": ["a", None]}},
     'mode is ["a", null], must be one of'),
    ("plan/procure", {**BUYING, "rack": [None, True]}, "rack.0: must be a number (it is null)"),
    ("whatif/share", asked(power=None), "power: must be an object (it is null)"),
    ("whatif/share", asked(power={"cap": True}), "power.cap: must be a number (it is true)"),
    ("whatif/share", asked(machine={"nodes": {"x": None}}),
     'machine.nodes: must be a whole number (it is {"x": null})'),
    ("whatif/share", asked(policy={"order": {"name": "wfp", "exponent": None}}),
     "policy.order: 'wfp': exponent: must be a number (it is null)"),
])
def test_a_mistake_is_said_of_json(path: str, body: Any, said: str) -> None:
    answer = ASKING.post(f"/api/{path}", body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"].startswith(said)
    assert not FOREIGN.search(answer.json()["error"])


def test_readers_of_pages_are_not_sent_to_the_document_of_the_api() -> None:
    wrong = asked(policy={"order": {"name": "wfp", "exponent": 99}})
    assert ASKING.post("/api/whatif", wrong).json()["right"] is None
    broken = ASKING.ask("POST", "/api/whatif", content=b"{no",
                        headers={"Content-Type": "application/json"})
    assert broken.json()["right"] == "see /api/openapi.json"  # no page sends that


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/api/no", 404),
                                                        ("PUT", "/api/now", 405)])
def test_an_address_that_is_none_is_said(method: str, path: str, status: int) -> None:
    answer = ASKING.ask(method, path)
    assert answer.status_code == status
    assert "address" in answer.json()["error"]
    assert not FOREIGN.search(answer.text)
