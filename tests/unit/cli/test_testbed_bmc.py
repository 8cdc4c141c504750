"""`wattline testbed bmc`: an emulated node behind real protocols."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from tests.support.bmcs import Played

from wattline.cli.testbed import command
from wattline.controller.testbed.layout import Bed
from wattline.model.errors import InputError


def test_it_says_where_it_answers_and_refuses_nodes_that_are_not_there(tmp_path):
    Played(tmp_path)
    Bed(tmp_path, nodes=1, port=21000).save()
    arguments = ["bmc", "--folder", str(tmp_path), "--seconds", "0", "--json"]
    said = CliRunner().invoke(command, [*arguments, "n0001"], catch_exceptions=False).stdout
    places = json.loads(said)
    assert places["ipmi"].startswith("lan://admin@127.0.0.1:")
    assert places["redfish"].startswith("http://admin@127.0.0.1:")
    with pytest.raises(InputError, match="it has n0001"):
        CliRunner().invoke(command, [*arguments, "n0007"], catch_exceptions=False)
