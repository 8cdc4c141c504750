"""Scenario files: what is understood, and errors that name the field and what would be right."""

from __future__ import annotations

import pytest

from wattline.model.errors import InputError
from wattline.scenario.load import bundled, changed, load, parse_settings, validate
from wattline.scenario.network_section import topology_of

GOOD = """
[trace]
generate = "lublin"
jobs = 50

[machine]
nodes = 64

[power]
cap = "70%"
wait_time_s = "500m"
"""


def write(tmp_path, text):
    path = tmp_path / "case.toml"
    path.write_text(text)
    return path


def test_what_people_type_is_understood(tmp_path):
    scenario = load(write(tmp_path, GOOD), {"machine.node_active_w": "0.4kW"})
    assert scenario.name == "case"
    assert scenario.machine.node_active_w == 400
    assert scenario.power.wait_time_s == 30_000


def test_the_log_is_found_beside_the_file(tmp_path):
    scenario = load(write(tmp_path, '[trace]\nfile = "log.swf"'))
    assert scenario.trace.file == tmp_path / "log.swf"


def test_the_files_of_a_network_are_found_beside_the_file(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[trace]\ngenerate = "lublin"\n[network]\ntopology = "codes"\n'
                    'intra = "a.bin"\ninter = "b.bin"\nprofiles = "p.toml"\n')
    found = load(file).network
    assert found["intra"] == str(tmp_path / "a.bin")
    assert found["inter"] == str(tmp_path / "b.bin")
    assert found["profiles"] == str(tmp_path / "p.toml")
    (tmp_path / "own.toml").write_text('[network]\ntopology = "torus"\nsizes = [2, 3]\n')
    for machine, nodes in (("own.toml", 12), ("dragonfly-272", 272)):
        file.write_text(f'[trace]\ngenerate = "lublin"\n[network]\nmachine = "{machine}"\n')
        assert topology_of(load(file)).nodes == nodes


def test_a_cap_and_a_map_are_found_beside_the_file_too(tmp_path):
    (tmp_path / "cap.csv").write_text("0,50000\n")
    text = '[trace]\nfile = "/logs/jobs.csv"\nmap = "eagle"\n[power]\ncap = "cap.csv"'
    scenario = load(write(tmp_path, text))
    assert str(scenario.trace.file) == "/logs/jobs.csv"
    assert scenario.trace.map == "eagle"  # a built-in one: there is no such file
    assert scenario.power.cap == str(tmp_path / "cap.csv")


def test_a_log_that_is_set_is_relative_to_where_we_are(tmp_path):
    changes = {"trace": {"file": "logs/other.swf"}}
    scenario = load(write(tmp_path, '[trace]\nfile = "log.swf"'), changes)
    assert str(scenario.trace.file) == "logs/other.swf"


def test_setting_a_parameter_turns_a_name_into_a_table():
    fields = changed({"policy": {"power": "wait"}}, {"policy.power.slots": 3})
    assert fields == {"policy": {"power": {"name": "wait", "slots": 3}}}


def test_settings_are_toml_values_or_text():
    assert parse_settings(["a.b=3", "c=wait", 'd="x"', "e=1.4MW"]) == {
        "a.b": 3, "c": "wait", "d": "x", "e": "1.4MW"}


@pytest.mark.parametrize(
    ("text", "field", "hint"),
    [
        ("[trace]\ngenerate='lublin'\n[machine]\nnodez = 3", "machine.nodez", "no such field"),
        ("[trace]\ngenerate='lublin'\n[machine]\nnodes = 0", "machine.nodes", "at least 1"),
        ("[trace]\n", "trace", "file"),
        ("[trace]\nfile='a'\ngenerate='b'", "trace", "either"),
        ("[trace]\ngenerate='lublin'\n[power]\nalpha = 9", "power.alpha",
         "must be at least 1 and at most 3 (it is 9)"),
        ("[trace]\ngenerate='lublin'\n[power]\nbeta = -1", "power.beta",
         "must be at least 0 and at most 2 (it is -1)"),
        ("[trace]\ngenerate='lublin'\n[power]\nlevels = []", "power.levels", "rise"),
        ("[trace]\ngenerate='lublin'\n[power]\nlevels = [0.9, 0.5]", "power.levels",
         "from 0.01 on up to 1"),
        ("[trace]\ngenerate='lublin'\n[machine]\nnode_active_w = -5", "machine.node_active_w", "0"),
        ("[trace]\ngenerate='lublin'\n[machine]\nnode_idle_w = 500", "machine", "node_idle_w"),
        ("[trace\n", "TOML", "line"),
        ("[[reservations]]\nstart_s=0\nduration_s=0\n[trace]\ngenerate='lublin'", "reservations",
         "duration_s: must be above 0"),
    ],
)
def test_mistakes_are_named(tmp_path, text, field, hint):
    with pytest.raises(InputError) as error:
        load(write(tmp_path, text))
    message = str(error.value)
    assert field in message
    assert hint in message
    assert "case.toml" in message
    assert "\n" not in message


def test_missing_files_and_binary_files(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "none.toml")
    (tmp_path / "bin.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file"):
        load(tmp_path / "bin.toml")


def test_bundled_scenarios_are_valid():
    assert {"main-uncapped", "main-capped"} <= set(bundled())
    for name in bundled():
        load(f"bundled:{name}")
    with pytest.raises(InputError, match="there are:"):
        load("bundled:nothing")


def test_fields_without_a_file():
    assert validate({"trace": {"generate": "lublin"}}).machine.nodes is None


def test_shares_of_users_reach_the_engine():
    from wattline.model.jobs import JobTable
    from wattline.scenario.build import plan
    from wattline.traces import Trace

    jobs = JobTable.build(submit_s=[0, 1], run_s=[1, 1], procs=[1, 1], user=[0, 1],
                          names={"user": ("ada", "bob")})
    fields = {"trace": {"generate": "lublin"}, "machine": {"nodes": 2},
              "shares": {"bob": 3, "ada": 1}}
    assert plan(validate(fields), Trace(jobs)).rules.user_share == (0.25, 0.75)
    with pytest.raises(InputError, match="no user 'eve'"):
        plan(validate(fields | {"shares": {"eve": 1}}), Trace(jobs))


@pytest.mark.parametrize(("axis", "policy", "name"), [
    ("order", "energy-share", "shares"), ("power", "budget", "price"),
    ("power", "budget", "carbon"), ("placement", "bounded", "views"),
    ("placement", "varied", "file"),
    ("configure", "claims", "claims"), ("configure", "naive", "table"),
    ("configure", "naive", "model"), ("configure", "naive", "store"),
])
def test_files_of_policies_lie_beside_the_scenario(tmp_path, axis, policy, name):
    text = (f'[trace]\ngenerate = "lublin"\n[policy]\n'
            f'{axis} = {{name = "{policy}", {name} = FILE}}\n')
    found = load(write(tmp_path, text.replace("FILE", '"sub/a.csv"')))
    assert getattr(found.policy, axis)[name] == str(tmp_path / "sub/a.csv")
    set_later = load(write(tmp_path, text.replace("FILE", '"a.csv"')),
                     {f"policy.{axis}.{name}": "here.csv"})
    assert getattr(set_later.policy, axis)[name] == "here.csv"
    # The claims that are shipped are a word of that parameter; elsewhere it would be a file.
    shipped = "npb" if name == "claims" else str(tmp_path / "npb")
    for given, meant in (("/a.csv", "/a.csv"), ("npb", shipped),
                         ("mariadb+pymysql://u@h/w", "mariadb+pymysql://u@h/w")):
        found = load(write(tmp_path, text.replace("FILE", f'"{given}"')))
        assert getattr(found.policy, axis)[name] == meant


def test_a_file_of_a_policy_may_be_a_path_from_python(tmp_path):
    from wattline.scenario.build import plan

    (tmp_path / "shares.toml").write_text('[[account]]\nname = "-1"\nshare = 1\n')
    order = {"name": "energy-share", "shares": tmp_path / "shares.toml"}
    made = plan(validate({"trace": {"generate": "lublin", "jobs": 3}, "machine": {"nodes": 8},
                          "policy": {"order": order}}))
    assert made.policy.order.share.tolist() == [1.0, 0.0]  # the account's, and of all strangers
