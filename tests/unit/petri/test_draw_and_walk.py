"""Pictures of nets and walks through them, from Python and from the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from wattline.advice.nets import build_net
from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.petri.draw import layout
from wattline.petri.examples import demo_puppet, small_cluster
from wattline.petri.labels import Box, crosses
from wattline.petri.simulate import Simulation
from wattline.petri.svg import svg
from wattline.petri.walk import Walk

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_shows_every_page_place_and_transition() -> None:
    simulation = Simulation(demo_puppet())
    simulation.run(max_firings=40)
    sheets = layout(simulation)
    root = ElementTree.fromstring(svg(sheets, "PuPPET <&>"))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    for page in simulation.net.pages():
        for name in (page.name, *(p.label or p.name for p in page.places),
                     *(t.name for t in page.transitions)):
            assert name in texts
    links = {element.get("href") for element in root.iter(f"{SVG}a")}
    ids = {"#" + str(element.get("id")) for element in root.iter(f"{SVG}g")}
    assert len(links) == 3
    assert links <= ids
    inside = [(shape.at, sheet.size) for sheet in sheets for shape in sheet.shapes]
    assert all(0 < x < width and 0 < y < height for (x, y), (width, height) in inside)


def test_picture_shows_the_tokens_of_the_moment() -> None:
    simulation = Simulation(small_cluster())
    before = {shape.name: shape.tokens for shape in layout(simulation)[0].shapes}
    assert (before["Jobs"], before["Nodes"], before["Running"]) == (3, 6, 0)
    simulation.run(max_firings=1)
    after = {shape.name: shape for shape in layout(simulation)[0].shapes}
    assert (after["Jobs"].tokens, after["Nodes"].tokens) == (2, 4)
    assert after["Running"].values == ("1 @30",)


def test_shapes_of_a_page_do_not_overlap() -> None:
    sheets = layout(Simulation(demo_puppet()))
    assert max(len(sheet.shapes) for sheet in sheets) > 5
    for sheet in sheets:
        for i, a in enumerate(sheet.shapes):
            for b in sheet.shapes[i + 1 :]:
                apart_x = abs(a.at[0] - b.at[0]) >= a.half[0] + b.half[0]
                apart_y = abs(a.at[1] - b.at[1]) >= a.half[1] + b.half[1]
                assert apart_x or apart_y, (sheet.name, a.name, b.name)


@pytest.mark.parametrize("power", ["wait", "dvfs"])
@pytest.mark.parametrize("after", [0, 40])
def test_no_text_lies_on_an_arc_a_shape_or_another_text(power: str, after: int) -> None:
    simulation = Simulation(build_net("puppet", power=power))
    simulation.run(max_firings=after)
    for sheet in layout(simulation):
        shapes = [Box(shape.at, shape.half) for shape in sheet.shapes]
        for number, label in enumerate(sheet.labels):
            others = [other.box for other in sheet.labels[:number]]
            assert not any(label.box.meets(box) for box in (*shapes, *others)), label.text
            assert not any(crosses(label.box, line.start, line.end)
                           for line in sheet.lines), label.text


@pytest.mark.parametrize("power", ["wait", "dvfs"])
def test_a_guard_stands_nearest_to_its_own_transition(power: str) -> None:
    net = build_net("puppet", power=power)
    for page, sheet in zip(net.pages(), layout(Simulation(net)), strict=True):
        boxes = {shape.name: shape for shape in sheet.shapes if shape.kind == "transition"}
        guards = {label.text.strip("[]"): label for label in sheet.labels if label.style == "guard"}
        for transition in page.transitions:
            if transition.guard:
                label = guards[transition.guard]
                gaps = {name: math.hypot(*(
                    max(0.0, abs(shape.at[i] - label.at[i]) - shape.half[i] - label.box.half[i])
                    for i in (0, 1))) for name, shape in boxes.items()}
                assert min(gaps, key=gaps.__getitem__) == transition.name, gaps


def test_inhibitor_and_test_arcs_are_drawn_as_what_they_are() -> None:
    simulation = Simulation(demo_puppet())
    root = ElementTree.fromstring(svg(layout(simulation), "PuPPET"))
    lines = [element.attrib for element in root.iter(f"{SVG}line")]
    absent = [line for line in lines if line["class"] == "inhibitor"]
    assert len(absent) == 7
    assert {line.get("marker-end") for line in absent} == {"url(#none)"}
    tests = [line for line in lines if line["class"] == "test"]
    assert len(tests) == 10
    assert all("marker-end" not in line and "stroke-dasharray" in line for line in tests)


def test_a_net_without_positions_is_laid_out_in_columns(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[places]\na = { count = 1 }\nb = {}\n[[transition]]\nname = "t"\n'
                    'take = ["a"]\nput = ["b"]\n')
    shapes = {shape.name: shape.at for shape in layout(Simulation(build_net(path)))[0].shapes}
    assert shapes["a"][0] < shapes["t"][0] < shapes["b"][0]


def test_walk_fires_undoes_and_runs() -> None:
    said: list[str] = []
    walk = Walk(Simulation(small_cluster()), said.append)
    assert walk.enabled_lines() == ["t=0 s, 0 fired; enabled:", "  1  Start  [n=1]",
                                    "  2  Start  [n=2]", "  3  Start  [n=3]"]
    walk.do("3")
    assert walk.simulation.place("Nodes").count() == 2
    walk.do("back")
    assert walk.simulation.place("Nodes").count() == 6
    assert walk.log == []
    walk.do("until 20")
    # Jobs 1 and 2 start at once (5 of 6 nodes); job 2 ends at 20, job 3 takes its 4 nodes.
    assert [(entry["time_s"], entry["transition"]) for entry in walk.log] == [
        (0.0, "Start"), (0.0, "Start"), (20.0, "Finish"), (20.0, "Start")]
    walk.do("run")
    assert walk.simulation.place("Done").values() == [2, 1, 3]
    walk.do("")
    assert said[-1] == "the net has come to its end"


@pytest.mark.parametrize(("line", "message"), [
    ("9", "no choice 9"), ("fly", "no command"), ("run x", "whole number"),
    ("until soon", "time in seconds"), ("show Nowhere", "is no place"),
    ("back", "nothing to undo"),
])
def test_walk_names_what_is_wrong(line: str, message: str) -> None:
    walk = Walk(Simulation(small_cluster()), lambda text: None)
    with pytest.raises(InputError, match=message):
        walk.do(line)
    assert walk.simulation.fired == 0


def test_step_reads_its_commands_from_a_pipe() -> None:
    result = CliRunner().invoke(cli, ["petri", "step", "puppet"], input="1\nrun 3\nmarking\nq\n")
    assert result.exit_code == 0
    assert "fired Batch scheduling/Submit  [job=job 0" in result.output
    assert "Power-aware allocation/Check" in result.output
    assert "Nodes: 8" in result.output
    result = CliRunner().invoke(cli, ["petri", "step", "puppet", "--json"], input="run\n")
    told = json.loads(result.output)
    assert told["places"]["Batch scheduling/Done"]["count"] == 8
    assert told["enabled"] == []


def test_show_writes_svg_and_run_tells_the_marking(tmp_path: Path) -> None:
    target = tmp_path / "net.svg"
    result = CliRunner().invoke(
        cli, ["petri", "show", "puppet", "--out", str(target), "--after", "30", "--json"])
    assert json.loads(result.output)["fired"] == 30
    assert ElementTree.parse(target).getroot().tag == f"{SVG}svg"
    result = CliRunner().invoke(
        cli, ["petri", "run", "puppet", "--power-policy", "dvfs", "--order", "wfp", "--json"])
    assert json.loads(result.output)["places"]["Batch scheduling/Done"]["count"] == 8


def test_show_replaces_a_file_only_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "puppet.svg"
    mine.write_text("mine")
    with pytest.raises(InputError, match=r"puppet.svg exists already; name .* -o FILE"):
        CliRunner().invoke(cli, ["petri", "show", "puppet"], catch_exceptions=False,
                           standalone_mode=False)
    assert mine.read_text() == "mine"
    result = CliRunner().invoke(cli, ["petri", "show", "puppet", "-o", "puppet.svg"])
    assert result.exit_code == 0
    assert "<svg" in mine.read_text()


@pytest.mark.parametrize(("arguments", "message"), [
    (["run", "nonet"], "no net 'nonet'"),
    (["run", "puppet", "--cap", "100W"], "below the idle power"),
    (["run", "puppet", "--cap", "much"], "neither watts nor per cent"),
    (["run", "puppet", "--trace", "x.swf"], "x.swf: there is no such file"),
    (["run", "puppet", "--idle-fraction", "2"], r"in \[0, 1\]"),
    (["show", "puppet", "--page", "Attic"], "no page 'Attic'"),
])
def test_mistakes_are_told_in_one_line(arguments: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CliRunner().invoke(cli, ["petri", *arguments], catch_exceptions=False,
                           standalone_mode=False)


def test_labels_meet_where_their_halves_reach_further_than_they_are_apart() -> None:
    """Two of width 4 and height 2, whose middles are 3 apart, then 4; and one above the other."""
    box = Box((0.0, 0.0), (2.0, 1.0))
    assert box.meets(Box((3.0, 0.0), (2.0, 1.0)))
    assert not box.meets(Box((4.0, 0.0), (2.0, 1.0)))
    assert box.meets(Box((0.0, 1.5), (2.0, 1.0)))
    assert not box.meets(Box((0.0, 2.0), (2.0, 1.0)))
