"""PNML out and in: what other tools read, what comes back, what is refused or said."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from wattline.model.errors import InputError
from wattline.petri.examples import demo_puppet, small_cluster
from wattline.petri.inscriptions import Timed
from wattline.petri.net import (
    UNIT,
    Colour,
    Net,
    Page,
    Place,
    Transition,
    absent,
    put,
    see,
    take,
    take_all,
)
from wattline.petri.pnml import GRAMMAR, NAMESPACE, to_pnml
from wattline.petri.pnml_reader import read_pnml
from wattline.petri.simulate import Simulation
from wattline.petri.skeleton import skeleton

PNML = f"{{{NAMESPACE}}}"
HEAD = f'<pnml xmlns="{NAMESPACE}"><net id="n" type="{GRAMMAR}ptnet">'


def written(net: Net, folder: Path) -> Path:
    path = folder / "net.pnml"
    path.write_text(to_pnml(net))
    return path


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def test_the_skeleton_of_puppet_has_the_structure_that_the_standard_asks_for() -> None:
    net = skeleton(demo_puppet())
    root = parsed(to_pnml(net))
    page = root.find(f"{PNML}net/{PNML}page")
    assert root.tag == f"{PNML}pnml"
    assert page is not None
    places = {element.get("id") for element in page.iter(f"{PNML}place")}
    transitions = {element.get("id") for element in page.iter(f"{PNML}transition")}
    arcs = list(page.iter(f"{PNML}arc"))
    assert (len(places), len(transitions)) == (16, 17)
    assert not places & transitions
    for arc in arcs:
        ends = (arc.get("source") in places, arc.get("target") in transitions)
        assert ends in ((True, True), (False, False))
    numbers = [element.findtext(f"{PNML}initialMarking/{PNML}text", "0")
               for element in page.iter(f"{PNML}place")]
    # One queue, 8 nodes, info, power, cap, wait queue, 8 jobs to come.
    assert sum(map(int, numbers)) == 21
    kinds = [element.text for element in page.iter(f"{PNML}text")
             if element.text in ("inhibitor", "reset", "test")]
    # Every transition of an event, and those that begin a pass, wait for the end of a pass.
    assert kinds.count("inhibitor") == 7
    assert kinds.count("test") == 0  # as arcs there and back, which every tool knows


def test_a_coloured_net_comes_back_and_runs_alike(tmp_path: Path) -> None:
    ours, theirs = Simulation(small_cluster()), Simulation(
        read_pnml(written(small_cluster(), tmp_path)))
    ours.run()
    theirs.run()
    assert theirs.now_s == ours.now_s == 30.0
    assert theirs.place("Done").values() == ours.place("Done").values() == [2, 1, 3]


def test_times_priorities_and_kinds_of_arcs_come_back(tmp_path: Path) -> None:
    pair = Colour("PAIR", tuple)
    page = Page("all", (
        Place("a", pair, (Timed((1, "x;y"), 5.0), (2, "z"))), Place("b", pair), Place("n", UNIT),
        Place("c", pair), Place("stop", UNIT),
    ), (
        Transition("go", (take("a", "(k, s)"), put("b", "(k, s)", delay_s="3 * k"), put("n"),
                          absent("stop")), guard="k > 0", priority=2),
        Transition("see", (see("b", "x"), take("n"), put("c", "x")), priority=1),
        Transition("end", (take_all("b", "xs"), take("n", weight="9")),
                   let=(("m", "len(xs)"),)),
    ))
    net = Net("all", page, {"limit": 3})
    back = read_pnml(written(net, tmp_path))
    assert [t.priority for t in back.top.transitions] == [2, 1, 0]
    assert [t.arcs for t in back.top.transitions] == [
        tuple(sorted(t.arcs, key=lambda arc: arc.kind.value == "out")) for t in page.transitions]
    assert back.top.place("a").initial == page.place("a").initial
    assert back.top.transitions[2].let == (("m", "len(xs)"),)
    assert back.declarations == {"limit": 3}


FOREIGN = HEAD + """
<page id="pg"><place id="p1"><name><text>ready</text></name>
<initialMarking><text>2</text></initialMarking><capacity><text>0</text></capacity></place>
<page id="inner"><place id="p2"/><referencePlace id="r1" ref="p1"/>
<transition id="t1"><toolspecific tool="Elsewhere" version="3"/></transition>
<arc id="a1" source="r1" target="t1"/><arc id="a2" source="r1" target="t1"/>
<arc id="a3" source="t1" target="p2"><inscription><text>3</text></inscription></arc></page></page>
</net></pnml>"""


def test_a_net_of_another_tool_is_read_with_its_pages_and_what_is_not_used_is_said(
    tmp_path: Path,
) -> None:
    path = tmp_path / "theirs.pnml"
    path.write_text(FOREIGN)
    net = read_pnml(path)
    simulation = Simulation(net)
    simulation.run()
    # The reference is the place itself, two arcs take two tokens together: it fires once.
    assert {tokens.name: tokens.count() for tokens in simulation.marking} == {"ready": 0, "p2": 3}
    said = "\n".join(net.remarks)
    assert "<capacity>" in said
    assert "tool='Elsewhere'" in said


@pytest.mark.parametrize(("text", "message"), [
    ("<pnml/>", "no <net> within"),
    ("<!DOCTYPE x [<!ENTITY a 'b'>]><pnml/>", "document type of its own"),
    ("nothing", "not an XML file"),
    (HEAD + '<arc id="a" source="x" target="y"/></net></pnml>', "must tie a place and"),
    (HEAD + '<place id="p"><initialMarking><text>-1</text></initialMarking></place></net></pnml>',
     "must be a whole number"),
    (HEAD + '<place id="p"/><transition id="t"/><arc id="a" source="p" target="t">'
     '<inscription><text>0</text></inscription></arc></net></pnml>',
     "weight at 'p' is '0', must be a whole number from 1 on"),
    (HEAD + '<place id="p"/><place id="p"/></net></pnml>', "not the only one"),
    (HEAD + '<place id="p"/><transition id="t"/><arc id="a" source="p" target="t">'
     '<arctype><text>hyper</text></arctype></arc></net></pnml>', "the kind 'hyper'"),
])
def test_files_that_are_no_net_are_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "wrong.pnml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_pnml(path)
    assert "\n" not in str(caught.value)


def test_the_coloured_puppet_can_be_looked_at_but_not_run_from_its_file(tmp_path: Path) -> None:
    net = read_pnml(written(demo_puppet(), tmp_path))
    assert len(skeleton(net).top.transitions) == 17
    with pytest.raises(InputError, match=r"a call of Possible.*a skeleton leaves"):
        Simulation(net)


def test_pm4py_loads_the_skeleton(tmp_path: Path) -> None:
    pm4py = pytest.importorskip("pm4py", reason="needs the Python package pm4py")
    net, marking, _ = pm4py.read_pnml(str(written(skeleton(demo_puppet()), tmp_path)))
    assert (len(net.places), len(net.transitions)) == (16, 17)
    assert sum(marking.values()) == 21
    assert type(net).__name__ == "ResetInhibitorNet"


def test_several_arcs_that_empty_places_do_not_ask_for_equal_numbers(tmp_path: Path) -> None:
    path = tmp_path / "net.pnml"
    path.write_text(
        HEAD + '<page id="p"><place id="a"><initialMarking><text>3</text></initialMarking></place>'
        '<place id="b"><initialMarking><text>5</text></initialMarking></place><place id="c"/>'
        '<transition id="t"/><arc id="1" source="a" target="t"/><arc id="2" source="t" target="c"/>'
        '<arc id="3" source="b" target="t"><type value="reset"/></arc>'
        '<arc id="4" source="c" target="t"><type value="reset"/></arc></page></net></pnml>')
    simulation = Simulation(read_pnml(path))
    simulation.run()
    assert [simulation.place(name).count() for name in "abc"] == [0, 0, 1]


PLAIN_BODY = (
    '<place id="p"><initialMarking><text>3</text></initialMarking></place><transition id="t"/>'
    '<arc id="a" source="p" target="t"><inscription><text>2</text></inscription></arc>')


@pytest.mark.parametrize("kind", [
    "P/T net", "http://www.informatik.hu-berlin.de/top/pntd/ptNetb",
    "http://www.yasper.org/specs/epnml-1.1", "", GRAMMAR + "highlevelnet"])
def test_plain_labels_count_whatever_the_type_of_the_net(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "net.pnml"
    path.write_text(f'<pnml><net id="n" type="{kind}">{PLAIN_BODY}</net></pnml>')
    net = read_pnml(path)
    assert net.top.places[0].initial == (3,)
    assert net.top.transitions[0].arcs[0].weight == "2"
    assert "read as a place/transition net" in net.remarks[0]


def test_a_net_with_labels_of_both_kinds_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.pnml"
    path.write_text(HEAD + PLAIN_BODY + '<place id="q"><hlinitialMarking><text>1</text>'
                    '</hlinitialMarking></place></net></pnml>')
    with pytest.raises(InputError, match="a net has one kind"):
        read_pnml(path)


def test_a_second_net_is_said_and_a_reference_has_an_id_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "net.pnml"
    path.write_text(HEAD + PLAIN_BODY + '</net><net id="m"/></pnml>')
    assert "1 more <net> not read" in read_pnml(path).remarks[0]
    path.write_text(HEAD + PLAIN_BODY + '<referencePlace id="p" ref="p"/></net></pnml>')
    with pytest.raises(InputError, match="referencePlace> with the id 'p'"):
        read_pnml(path)


SYMMETRIC = f'''<pnml xmlns="{NAMESPACE}"><net id="n" type="{GRAMMAR}symmetricnet">
<declaration><structure><declarations><namedsort id="C" name="C"><cyclicenumeration>
<feconstant id="a" name="a"/><feconstant id="b" name="b"/></cyclicenumeration></namedsort>
</declarations></structure></declaration><page id="p">
<place id="A"><type><text>C</text><structure><usersort declaration="C"/></structure></type>
<hlinitialMarking><text>C.all</text><structure><all><usersort declaration="C"/></all></structure>
</hlinitialMarking></place><place id="B"><type><text>C</text></type></place><transition id="t"/>
<arc id="1" source="A" target="t"><hlinscription><text>x</text></hlinscription></arc>
<arc id="2" source="t" target="B"><hlinscription><text>x</text></hlinscription></arc>
</page></net></pnml>'''
TIMED_ARCS = HEAD + """<place id="p" positionX="1" initialMarking="1" invariant="&lt; inf"/>
<transition id="t"/><inputArc inscription="[0,inf)" source="p" target="t"/></net></pnml>"""
BODY = ('<place id="p"><initialMarking>{marking}</initialMarking>{place}</place>{net}'
        '<transition id="t">{transition}</transition><transition id="u"/>'
        '<arc id="a" source="p" target="t" {arc}><inscription>{weight}</inscription></arc>')


def of_other_tools(**parts: str) -> str:
    usual = {"marking": "<text>1</text>", "weight": "<text>1</text>", "place": "", "net": "",
             "transition": "", "arc": ""}
    return HEAD + BODY.format(**usual | parts) + "</net></pnml>"


@pytest.mark.parametrize(("text", "message"), [
    (SYMMETRIC, r"the <declaration> of the net is a term \(<structure>\)"),
    (SYMMETRIC.replace("structure>", "elsewhere>"), "another tool wrote"),
    (TIMED_ARCS, "the place 'p' has the attribute initialMarking|the net has a <inputArc>"),
    (of_other_tools(arc='type="tapnInhibitor"'), "the arc 'a' has the attribute type"),
    (of_other_tools(net='<transportArc/>'), "the net has a <transportArc>"),
    (of_other_tools(net='<module id="m"/>'), "the net has a <module>"),
    (of_other_tools(place="<capacity><text>5</text></capacity>"), "the place 'p' has a <capacity>"),
    (of_other_tools(place="<initialmarking><text>5</text></initialmarking>"), "<initialmarking>"),
    (of_other_tools(marking="<value>Default,1,red,2</value>"), "tokens of several classes"),
    (of_other_tools(marking="<text>1<b/></text>"), "of several parts"),
    (of_other_tools(marking="<text>1</text><text>2</text>"), "of several parts"),
    (of_other_tools(marking="<count>2</count>"), "is count, which is not understood"),
    (of_other_tools(weight="<text>x</text>"), "must be a whole number from 1 on"),
    (of_other_tools(weight="<structure><all/></structure>"), r"a term \(<structure>\)"),
    (of_other_tools(transition="<condition><text>x = y</text></condition>"), "has a <condition>"),
    (of_other_tools(transition="<priority><value>2</value></priority>"), "differ in <priority>"),
    (of_other_tools(transition="<rate><value>0.0</value></rate>"), "'t' has a <rate> of 0"),
    (of_other_tools(transition="<guard><text>x</text></guard>"), "has a <guard>"),
    (of_other_tools(net='<referencePlace id="r" ref="t"/>'), "'r' refers to no place"),
    (of_other_tools(net='<referenceTransition id="r" ref="x"/>'), "'r' refers to no transition"),
    (of_other_tools(net='<referencePlace id="r" ref="p"><initialMarking/></referencePlace>'),
     "the referencePlace 'r' has a <initialMarking>"),
])
def test_what_would_be_another_net_is_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "theirs.pnml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_pnml(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("marking", "weight", "tokens"), [
    ("<value>3</value>", "<value>2</value>", 3),
    ("<value>Default,3</value><graphics/>", "<value>Default,2</value><graphics/>", 3),
    ("<value>Default,3,red,0</value>", "2", 3), ("7", "<text> 2 </text>", 7),
])
def test_markings_and_weights_count_in_the_forms_that_tools_write(
    tmp_path: Path, marking: str, weight: str, tokens: int
) -> None:
    path = tmp_path / "theirs.pnml"
    path.write_text(of_other_tools(
        marking=marking, weight=weight, place="<capacity><value>0</value></capacity>",
        transition="<rate><value>1.0</value></rate><timed><value></value></timed>"))
    net = read_pnml(path)
    assert net.top.places[0].initial == (tokens,)
    assert net.top.transitions[0].arcs[0].weight == "2"
    assert any("1 <rate> not used here" in line for line in net.remarks)


def test_a_priority_that_all_transitions_share_is_said_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "theirs.pnml"
    same = "<priority><value>1</value></priority>"
    path.write_text(of_other_tools(transition=same).replace(
        '<transition id="u"/>', f'<transition id="u">{same}</transition>'))
    assert any("2 <priority> not used here" in line for line in read_pnml(path).remarks)
