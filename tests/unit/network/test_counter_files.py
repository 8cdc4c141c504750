"""Counters of Aries routers from the tables that LDMS stores."""

import json

import pytest

from wattline.cli.main import main
from wattline.model.errors import InputError
from wattline.network.counter_files import read_counters
from wattline.network.topology import dragonfly

MACHINE = dragonfly(2, 2, 3)  # six routers of two nodes
FULL = "AR_NL_PRF_REQ_PTILES_TO_NIC_0_FLITS,AR_NL_PRF_RSP_PTILES_TO_NIC_1_FLITS"


def table(folder, rows, head=f"#Time,ProducerName,{FULL},AR_RTR_0_3_INQ_PRF_ROWBUS_STALL_CNT"):
    path = folder / "counters.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_rates_are_those_of_routers(tmp_path):
    """Node 0 and node 1 read the same router; its traffic is the flits to both of its nodes."""
    path = table(tmp_path, ["0,0,0,0,0", "10,0,100,50,20", "0,1,0,0,0", "10,1,100,70,20",
                            "0,2,5,5,5", "10,2,5,5,5"])
    found = read_counters(path, MACHINE)
    assert found.readings.traffic[:2].tolist() == [16.0, 0.0]
    assert found.readings.stalls[:2].tolist() == [2.0, 0.0]
    # The others are silent, not quiet: they get the median, and that is said.
    assert found.readings.traffic[2:].tolist() == [8.0] * 4
    assert "no counters of 4 routers" in found.remarks[0]


def test_short_names_and_restarts(tmp_path):
    path = table(tmp_path, ["0,2,100,7", "10,2,300,7", "20,2,50,9", "30,2,150,9"],
                 head="time,host,P_REQ_FLIT_0,N_STALL_4_7")
    found = read_counters(path, MACHINE)
    assert found.readings.traffic[1] == pytest.approx((200 + 100) / 20)  # without the restart
    assert found.readings.stalls[1] == pytest.approx(2 / 30)


def test_who_is_no_node_is_said(tmp_path):
    path = table(tmp_path, ["0,0,0,0,0", "10,0,1,1,1", "0,login,0,0,0", "5,4,0,0,0"])
    remarks = " ".join(read_counters(path, MACHINE).remarks)
    assert "1 component not of the network (login); left out" in remarks
    assert "1 component without two samples in a row (4); left out" in remarks


@pytest.mark.parametrize("mark", [";", "\t"])
def test_other_separators_are_read(tmp_path, mark):
    path = table(tmp_path, ["0,2,100,7", "10,2,300,7"], head="time,host,P_REQ_FLIT_0,N_STALL_4_7")
    path.write_text(path.read_text().replace(",", mark))
    assert read_counters(path, MACHINE).readings.traffic[1] == pytest.approx(20.0)


@pytest.mark.parametrize(("head", "rows", "message"), [
    ("time,P_REQ_FLIT_0", ["0,1"], "needs a column of times"),
    ("time,host,load", ["0,1,2"], "none of the counters of Aries routers"),
    ("time,host,P_REQ_FLIT_0", ["0,1,x"], "line 2: has a cell that is missing or not a number"),
    ("time,host,P_REQ_FLIT_0", [], "no row below"),
    ("time,host,P_REQ_FLIT_0", ["0,a,1", "1,a,2"], "no component of the table is a node"),
])
def test_a_table_of_something_else_is_refused(tmp_path, head, rows, message):
    with pytest.raises(InputError, match=message):
        read_counters(table(tmp_path, rows, head), MACHINE)


def test_nedd_takes_quiet_routers_by_the_table(capsys, tmp_path):
    machine = tmp_path / "machine.toml"
    machine.write_text("[network]\nnodes_per_router = 2\nrouters_per_group = 2\ngroups = 3\n"
                       "hosts = 'nid[00-11]'\n")
    rows = [f"{time},nid{node:02},{time * (100 - node)},{time},{time}"
            for node in range(0, 12, 2) for time in (0, 10)]
    path = table(tmp_path, rows)
    chosen = {}
    for option in ("--sensitive", "--insensitive"):
        with pytest.raises(SystemExit):
            main(["network", "nodes", str(machine), "--size", "2", "--free", "nid[02-11]",
                  "--placement", "nedd", "--counters", str(path), option, "--json"])
        chosen[option] = json.loads(capsys.readouterr().out)["host_list"]
    assert chosen == {"--sensitive": "nid[10-11]", "--insensitive": "nid[02-03]"}
