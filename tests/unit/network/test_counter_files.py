"""Counters of Aries routers from the tables that LDMS stores."""

import json

import pytest

from wattline.cli.main import main
from wattline.model.errors import InputError
from wattline.network.counter_files import read_counters
from wattline.network.nodes import choose_nodes
from wattline.network.routes import routing_remarks
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


@pytest.mark.parametrize("beside", [
    "AR_RTR_5_0_INQ_PRF_ROWBUS_STALL_CNT", "N_STALL_5_7", "N_STALL_0_8", "N_STALL_9_9"])
def test_only_network_tiles_have_network_stalls(tmp_path, beside):
    """Counters of the tiles towards the nodes say the reverse, and there are eight in a row."""
    path = table(tmp_path, ["0,0,0,0", "10,0,100,0", "0,2,0,0", "10,2,0,9000"],
                 head=f"time,host,N_STALL_4_7,{beside}")
    found = read_counters(path, MACHINE)
    assert found.readings.stalls[:2].tolist() == [10.0, 0.0]
    assert choose_nodes(MACHINE, 2, "low-stall-router", counters=found).nodes.tolist() == [2, 3]


@pytest.mark.parametrize("number", [4, 7])
def test_a_router_has_four_nodes(tmp_path, number):
    path = table(tmp_path, ["0,0,0,0", "10,0,100,500"],
                 head=f"time,host,P_REQ_FLIT_3,P_REQ_FLIT_{number}")
    assert read_counters(path, MACHINE).readings.traffic[0] == 10.0


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
    ("time,P_REQ_FLIT_0", ["0,1"], "needs a column of nodes"),
    ("host,P_REQ_FLIT_0", ["0,1"], "needs a column of times"),
    ("time,host,Time,P_REQ_FLIT_0", ["0,1,0,2"], "has 2 columns 'time'; which one counts"),
    ("time,host,P_REQ_FLIT_0,p_req_flit_0", ["0,1,2,2"], "columns 3 and 4 .* the same counter"),
    ("time,host,N_STALL_0_3,AR_RTR_0_3_INQ_PRF_ROWBUS_STALL_CNT", ["0,1,2,2"],
     "columns 3 and 4 .* the same counter"),
    ("time,host,load", ["0,1,2"], "none of the counters of Aries routers"),
    ("time,host,P_REQ_FLIT_0", ["0,1,x"], "line 2: P_REQ_FLIT_0 is 'x'; a counter is a number"),
    ("time,host,P_REQ_FLIT_0", ["0,1,2", "1,1,nan"], "line 3: P_REQ_FLIT_0 is 'nan'"),
    ("time,host,P_REQ_FLIT_0", ["0,1,-2"], "line 2: P_REQ_FLIT_0 is '-2'"),
    ("time,host,P_REQ_FLIT_0", ["0,1, "], "line 2: P_REQ_FLIT_0 is empty"),
    ("time,host,P_REQ_FLIT_0", ["0, ,1"], "line 2: names no node .host is empty"),
    ("time,host,P_REQ_FLIT_0", ["0,1"], "line 2: has 2 cells where the first line names 3 columns"),
    ("time,host,P_REQ_FLIT_0", ["noon,1,1"], "line 2: time is 'noon', no time"),
    ("time,host,P_REQ_FLIT_0", ["inf,1,1"], "line 2: time is 'inf', no time"),
    ("time,host,P_REQ_FLIT_0", ["0,1,1", "5,1,2", "5,1,3"],
     "line 4: '1' has other counters at the time 5 in a line before"),
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


def test_a_repeated_row_counts_once_and_is_said(tmp_path):
    path = table(tmp_path, ["0,2,100", "10,2,300", "10,2,300", ",,"], head="time,host,P_REQ_FLIT_0")
    found = read_counters(path, MACHINE)
    assert found.readings.traffic[1] == pytest.approx(20.0)
    assert any("1 row stood in it before; left out" in line for line in found.remarks)


@pytest.mark.parametrize("later", ["2023-01-31T05:00:10", "2023-01-31 05:00:10+00:00",
                                   "2023-01-31T06:00:10+01:00", "2023-01-31T05:00:10Z"])
def test_times_may_be_written_as_iso_has_them(tmp_path, later):
    path = table(tmp_path, ["2023-01-31T05:00:00,2,100", f"{later},2,300"],
                 head="time,host,P_REQ_FLIT_0")
    assert read_counters(path, MACHINE).readings.traffic[1] == pytest.approx(20.0)


@pytest.mark.parametrize(("counter", "placement", "lacks"), [
    ("P_REQ_FLIT_0", "low-stall-router", "stalls"), ("N_STALL_0_0", "nedd", "traffic"),
    ("N_STALL_0_0", "low-traffic-router", "traffic")])
def test_a_placement_is_refused_whose_counters_the_table_does_not_have(
        tmp_path, counter, placement, lacks):
    path = table(tmp_path, ["0,2,1", "10,2,3"], head=f"time,host,{counter}")
    found = read_counters(path, MACHINE)
    assert found.lacks == (lacks,)
    with pytest.raises(InputError, match=f"goes by the {lacks} of routers, and the table has no"):
        choose_nodes(MACHINE, 2, placement, counters=found)
    other = "low-traffic-router" if lacks == "stalls" else "low-stall-router"
    assert len(choose_nodes(MACHINE, 2, other, counters=found).nodes) == 2


@pytest.mark.parametrize(("groups", "routing", "said"), [
    (2, "valiant", "has two groups, and no third one to detour by: under 'valiant' packets "
                   "detour only inside a group"),
    (2, "ugal", "detour nowhere"), (1, "adaptive", "has one group"), (3, "valiant", None),
    (2, "minimal", None)])
def test_a_dragonfly_without_a_third_group_is_said(groups, routing, said):
    remarks = routing_remarks(dragonfly(2, 2, groups), routing)
    assert (said is None and remarks == ()) or said in remarks[0]
