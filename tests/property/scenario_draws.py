"""Scenarios drawn from the schema of the scenario file itself, then spoilt in a place or two.

What a field may be is read from pydantic's JSON schema, so that a new field is drawn by itself.
Only what a schema cannot say stands here: which texts are names of policies and of files.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from wattline.network.config import BUILDERS
from wattline.policies.declaration import AXES
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.policies.registry import built_in
from wattline.scenario.model import Scenario
from wattline.scenario.parameters import GENERATORS

BUILT_IN = {axis: built_in()[axis] for axis in AXES}

NODES = 36
"""Of every scenario that is drawn, unless a place is spoilt: 36 = 2 x 2 x 9 of a dragonfly."""
CLAIMED = {"classes": [{"name": "xeon", "count": 12, "cores": 8},
                       {"name": "odroid-c2", "count": 24, "cores": 8}]}

HOSTILE: tuple[Any, ...] = (
    float("nan"), float("inf"), -float("inf"), -1, 0, -0.0, 1e308, -1e308, 1e-308, 5e-324, 1.5,
    2**31, 2**63 - 1, 2**63, 10**30, -(10**30), 1e12, 1e15, True, False, None, "8", "", " ", "nan",
    "-1", "1e999W", "-5h", "101%", "0%", "1e12s", "99999999999:00", "a\0b", "x" * 5000, "\u202eabc",
    "\udcff", "日本", "../..", "/", "/dev/zero", ".", "no-such-file", "'; DROP TABLE jobs;--",
    "<script>", "%s%n{0}", [], {}, [[]], [{}], [1, "a", None], {"name": "x"}, {"": 1}, (), b"x",
)

LOG_HEAD = ("; UnixStartTime: 1000000\n; MaxNodes: 36\n; Application: 0 app\n"
            "; Application: 1 CG.A\n; Queue: 1 debug\n")
JOBS = [
    f"{n} {7 * n} -1 {20 + 13 * (n % 5)} {1 + n % 7} -1 -1 {1 + n % 7} {40 + 20 * (n % 4)} -1 "
    f"1 {1 + n % 3} 1 {n % 2} {1 + n % 2} -1 -1 -1\n" for n in range(1, 13)]
FILES: dict[str, str] = {
    "log.swf": LOG_HEAD + "".join(JOBS),
    # Congestion is found anew whenever a job starts or ends: plain, it took half of the time.
    "few.swf": LOG_HEAD + "".join(JOBS[:4]),
    "app.swf": "; MaxNodes: 36\n; Application: 0 app\n" + "".join(
        f"{n} {9 * n} -1 50 {2 + 2 * (n % 3)} -1 -1 {2 + 2 * (n % 3)} 130 -1 1 1 1 0 1 -1 -1 -1\n"
        for n in range(1, 13)),
    "cg.swf": "; MaxNodes: 36\n; Application: 0 CG.A\n" + "".join(
        f"{n} {n} -1 50 {1 + n % 2} -1 -1 {1 + n % 2} 130 -1 1 1 1 0 1 -1 -1 -1\n"
        for n in range(1, 13)),
    "cap.csv": "0,9000\n60,8000\n120,10000\n",
    "price.csv": "time_s,price/MWh\n0,30\n100,90\n500,10\n",
    "carbon.csv": "time_s,intensity g/kWh\n0,300\n90,100\n",
    "shares.toml": "".join(f'[[account]]\nname = "{n}"\nshare = {n + 1}\n' for n in range(-1, 4)),
    "views.toml": '[views.power]\nbounds = [{used = "power_w", limit = "limit_w"}]\n'
                  'keys = [{name = "power_w", inherit = "children_sum"}, {name = "limit_w"}]\n'
                  'entities = [{name = "room", limit_w = 9000}, {name = "n[0-35]", type = "node", '
                  'parent = "room", power_w = 90}]\n',
    "table.csv": "application,nodes,cores,cap_w,time_s,power_w\n" + "".join(
        f"app,{n},8,{cap},{400 / n * (1.2 if cap == 50 else 1)},{n * cap * 2}\n"
        for n in (1, 2, 4, 8) for cap in (50, 100)),
    "nodes.csv": "host,run_id,nodes,pkg0_w,pkg1_w,pkg0_limit_w\n" + "".join(
        f"n{n:02},a,40,{60 + n % 3},{60 - n % 2},95\n" for n in range(40)),
    "mix.toml": '[[type]]\nname = "app"\nprocs = [1, 2]\nrun_s = 30\n',
    "profiles.toml": "[app]\nmpi = 0.3\nallreduce = 0.2\n",
    "signal.csv": "0,1\n50,2\n",
    "bad.bin": "\0\1\2", "empty": "", "text": "not what was asked for\n",
}
_FILE_OF = {"file": "log.swf", "map": "text", "price": "price.csv", "carbon": "carbon.csv",
            "shares": "shares.toml", "views": "views.toml", "table": "table.csv",
            "types": "mix.toml", "profiles": "profiles.toml", "claims": "text", "model": "text",
            "store": "text"}
_TEXTS = {"strategy": ("idle", "shut", "dvfs", "mix"), "cpu_freq": ("high", "1200000-2400000"),
          "objective": ("energy", "time", "edp", "edp:2"), "view": ("power",), "start": ("0", "50"),
          "start_s": ("50", "1m"), "time_s": ("50", "1m"),
          "cap": ("70%", "9kW", "cap.csv", "100%"), "watch_cap": ("70%", "9kW", "cap.csv"),
          "claims": ("npb",), "name": ("a", "b c"), "energy": ("5kWh", "40MWh")}


def write_files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)


def smallest() -> dict[str, Any]:
    return {"trace": {"file": "log.swf"}, "machine": {"nodes": NODES}}


def scenario(rng: random.Random) -> tuple[dict[str, Any], str, str]:
    """Fields of a scenario that could be, the section that was drawn freely, and what stands there.

    One section is drawn from its schema; the rest stays as small as it can be.
    """
    fields = smallest()
    section = rng.choice([*SECTIONS, "policy", "policy", "trace", "power", "network"])
    label = SECTIONS[section](rng, fields)
    return fields, section, label


def spoilt(rng: random.Random, fields: dict[str, Any], section: str) -> None:
    """Put something hostile in one or two places of the section."""
    for _ in range(rng.choice((1, 1, 2))):
        places = list(_places(fields.get(section)))
        if not places or rng.random() < 0.1:
            fields[section] = rng.choice(HOSTILE)
            return
        holder, key = rng.choice(places)
        deed = rng.random()
        if deed < 0.75:
            holder[key] = rng.choice(HOSTILE)
        elif deed < 0.85:
            del holder[key]
        elif deed < 0.95:
            holder[rng.choice(("nonsense", "name", "seed", "nodes"))] = rng.choice(HOSTILE)
        else:
            holder[key] = _nested(rng.choice((3, 60, 200)))


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if depth % 2 else {"a": value}
    return value


def _places(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every field of a table and of the tables in it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from _places(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _places(inner)


# ---- drawing from a schema -------------------------------------------------------------------


def draw(rng: random.Random, schema: dict[str, Any], root: dict[str, Any], field: str) -> Any:
    """A value that the schema allows, and small."""
    if "$ref" in schema:
        return draw(rng, root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root, field)
    if "anyOf" in schema:
        options = [option for option in schema["anyOf"] if option.get("type") != "null"]
        return draw(rng, rng.choice(options), root, field)
    if "enum" in schema or "const" in schema:
        return rng.choice(schema.get("enum", [schema.get("const")]))
    kind = schema.get("type")
    if kind == "object":
        return _table(rng, schema, root, field)
    if kind == "array":
        few = [draw(rng, schema["items"], root, field) for _ in range(rng.choice((1, 2, 3)))]
        return sorted(few) if all(type(item) in (int, float) for item in few) else few
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "integer":
        return _whole(rng, schema)
    if kind == "number":
        # Seconds that count from the first submission have their bound in a validator.
        return _number(rng, {"minimum": 0.0} | schema if field.endswith("_s") else schema)
    return _text(rng, field)


def _table(rng: random.Random, schema: dict[str, Any], root: dict[str, Any], field: str) -> Any:
    if "properties" not in schema:
        inner = schema.get("additionalProperties")
        values = inner if isinstance(inner, dict) else {"type": "number", "minimum": 0}
        names = {"limits": ("rack0", "site", "pdu0"), "weights": ("debug",)}.get(field, ("1", "2"))
        return {name: draw(rng, values, root, name) for name in names}
    needed = schema.get("required", ())
    return {name: draw(rng, inner, root, name) for name, inner in schema["properties"].items()
            if name in needed or rng.random() < 0.4}


def _ends(schema: dict[str, Any], low: float, high: float) -> tuple[float, float]:
    """The least and the most that a schema allows; pydantic says those of an optional number in
    words of its own."""
    said = [[schema[name] for name in names if name in schema]
            for names in (("minimum", "exclusiveMinimum", "ge", "gt"),
                          ("maximum", "exclusiveMaximum", "le", "lt"))]
    return max(said[0], default=low), min(said[1], default=high)


def _whole(rng: random.Random, schema: dict[str, Any]) -> int:
    low, high = map(int, _ends(schema, 0, 10**9))
    if rng.random() < 0.1:
        return high
    return min(rng.choice((low, low + 1, low + 3, NODES)), high)


def _number(rng: random.Random, schema: dict[str, Any]) -> float:
    low, high = map(float, _ends(schema, -2.0, 1e9))
    if rng.random() < 0.15:
        return rng.choice((low, high))
    low, high = max(low, -2.0), min(high, low + rng.choice((1.0, 100.0, 20_000.0)))
    return round(low + (0.01 + 0.98 * rng.random()) * (high - low), 4)


def _text(rng: random.Random, field: str) -> str:
    if field in _FILE_OF and (field not in _TEXTS or rng.random() < 0.5):
        return rng.choice((_FILE_OF[field],) * 4 + ("text", "bad.bin", "empty", "nowhere"))
    return rng.choice(_TEXTS.get(field, ("a",)))


# ---- sections --------------------------------------------------------------------------------


def _of_schema(section: str) -> Any:
    def make(rng: random.Random, fields: dict[str, Any]) -> str:
        fields[section] = draw(rng, SCHEMA["properties"][section], SCHEMA, section)
        if section == "machine":
            fields[section] |= {} if "classes" in fields[section] else {"nodes": NODES}
            if "classes" in fields[section]:
                fields[section].pop("nodes", None)
                fields["policy"] = {"placement": "first-fit"}
        if section == "reservations":
            for each in fields[section]:
                each.setdefault("nodes", 3)
        if section == "power" and rng.random() < 0.7:
            fields["policy"] = {"power": rng.choice(("block", "wait", "dvfs", "adaptive"))}
            fields["power"].pop("watch_cap", None)
            fields["power"].setdefault("cap", rng.choice(("80%", 9000, "cap.csv")))
        return section

    return make


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _trace(rng: random.Random, fields: dict[str, Any]) -> str:
    name = rng.choice(list(GENERATORS))
    schema = _schema(GENERATORS[name])
    given = draw(rng, schema, schema, "parameters")
    given.pop("nodes", None)
    fields["trace"] = {"generate": name, "seed": rng.randrange(99), "parameters": given}
    if name != "esp2":
        fields["trace"]["jobs"] = rng.choice((1, 7, 20))
    if name == "poisson":
        given.setdefault("types", "mix.toml")
    return f"generate.{name}"


def _policy(rng: random.Random, fields: dict[str, Any]) -> str:
    axis = rng.choice(list(BUILT_IN))
    return of_policy(rng, fields, axis, rng.choice(list(BUILT_IN[axis])))


def of_policy(rng: random.Random, fields: dict[str, Any], axis: str, name: str) -> str:
    """Choose this policy, with parameters drawn from its own schema."""
    schema = _schema(BUILT_IN[axis][name].parameters)
    given = draw(rng, schema, schema, name)
    fields["policy"] = {axis: {"name": name, **given} if given or rng.random() < 0.5 else name}
    _companions(rng, fields, axis, name)
    return f"{axis}.{name}"


def _companions(rng: random.Random, fields: dict[str, Any], axis: str, name: str) -> None:
    """Fields that a policy needs beside it to be accepted at all."""
    policy = fields["policy"]
    if axis == "power":
        kept = "watch_cap" if name == "none" else "cap"
        fields["power"] = {kept: rng.choice((9000, "80%", "cap.csv"))}
    if name == "budget":
        given = policy[axis] if isinstance(policy[axis], dict) else {"name": name}
        policy[axis] = given | {"energy": "40MWh", "period": rng.choice(("1h", 500.0, "7d"))}
    if name in ("budget", "adaptive") and isinstance(policy[axis], dict) and rng.random() < 0.8:
        for lists in ("frequency_ghz", "core_w", "idle_core_w"):
            policy[axis].pop(lists, None)
    if axis == "configure" and name not in ("requested", "claims"):
        fields |= {"trace": {"file": "app.swf"}, "power": {"cap": 9000}}
        if rng.random() < 0.8:
            given = policy[axis] if isinstance(policy[axis], dict) else {"name": name}
            for other in ("model", "store", "cores", "cap_w", "weights"):
                given.pop(other, None)
            policy[axis] = {**given, "table": "table.csv"}
    if name in ("lending", "varied"):
        fields |= {"trace": {"file": "app.swf"}, "power": {"cap": 9000}}
        policy["configure"] = {"name": "naive", "table": "table.csv"}
    if name == "varied" and isinstance(policy[axis], dict) and "file" in policy[axis]:
        policy[axis]["file"] = "nodes.csv"
    if name == "claims":
        fields |= {"trace": {"file": "cg.swf"}, "machine": CLAIMED}
        policy |= {"placement": "claims"} | (
            {} if axis == "configure" else {"configure": "claims"})
        fields.pop("power", None)
    if name == "bounded" and isinstance(policy[axis], dict):
        policy[axis].setdefault("limits", {"rack0": "12kW"})
    if name in PLACEMENTS:
        fields["trace"] = {"file": "few.swf"}
        fields["network"] = {"topology": "dragonfly", "nodes_per_router": 2,
                             "routers_per_group": 2, "groups": 9}


NETWORKS: dict[str, dict[str, Any]] = {
    "dragonfly": {"nodes_per_router": 2, "routers_per_group": 2, "groups": 9},
    "torus": {"sizes": [3, 3, 2], "nodes_per_router": 2},
    "aries": {"groups": 3, "rows": 2, "columns": 3, "nodes_per_router": 2},
    "fat-tree": {"ports": 4}, "cray": {"file": "text"},
    "codes": {"intra": "text", "inter": "bad.bin"},
}
GOOD_NETWORKS = tuple(kind for kind in NETWORKS if kind not in ("cray", "codes"))
"""The others are read from files, which are none here."""


def _network(rng: random.Random, fields: dict[str, Any]) -> str:
    return of_network(rng, fields, rng.choice(list(NETWORKS)))


def of_network(rng: random.Random, fields: dict[str, Any], kind: str) -> str:
    """Choose this network, with traffic and a placement drawn for it."""
    assert kind in BUILDERS
    fields["network"] = {"topology": kind, **NETWORKS[kind], "seed": rng.randrange(9),
                         "communication_share": rng.random(), "congestion": rng.random() < 0.7,
                         "sensitive_jobs": 0.5, "node_traffic_gbit_s": 2.0}
    if rng.random() < 0.5:
        fields["network"]["profiles"] = "profiles.toml"
    fields["machine"], fields["trace"] = {}, {"file": "few.swf"}
    fields["policy"] = {"placement": rng.choice(list(PLACEMENTS))}
    return f"network.{kind}"


def _name(rng: random.Random, fields: dict[str, Any]) -> str:
    letters = "aZ0 ./\\-_:*?'\"<>|%\n\t日\u202e\U0001f600"
    fields["name"] = "".join(rng.choice(letters) for _ in range(rng.choice((1, 5, 80, 200))))
    return "name"


def _signals(rng: random.Random, fields: dict[str, Any]) -> str:
    files = ("signal.csv", "cap.csv", "signal.csv", "cap.csv", "signal.csv", "text", "nowhere")
    fields["signals"] = {name: rng.choice(files) for name in ("grid", "solar")}
    return "signals"


SCHEMA = Scenario.model_json_schema()
SECTIONS: dict[str, Any] = {
    "trace": _trace, "policy": _policy, "network": _network, "name": _name, "signals": _signals,
    **{section: _of_schema(section) for section in ("machine", "power", "reservations", "shares")},
}
