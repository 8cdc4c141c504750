"""No bytes make a reader fail in any way but with one clear line; what is written reads back."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from wattline.model.errors import InputError
from wattline.model.jobs import COLUMNS, JobTable
from wattline.traces import Trace, generate, read, swf, write
from wattline.traces.column_map import parse_map
from wattline.traces.writer import csv_text, parquet_bytes, swf_text

# WATTLINE_FUZZ=5000 looks longer.
quick = settings(max_examples=int(os.environ.get("WATTLINE_FUZZ", "4")), deadline=None,
                 suppress_health_check=[HealthCheck.function_scoped_fixture])

SACCT = b"""JobID|JobName|State|Submit|Start|ElapsedRaw|Timelimit|NNodes|ConsumedEnergyRaw|\
Dependency
1|a|COMPLETED|2024-03-01T10:00:00|2024-03-01T10:00:01|60|01:00:00|2|1200|
2|b|TIMEOUT|2024-03-01T10:00:05|2024-03-01T10:00:09|30|1-00:00:00|1||afterok:1
2.0|b|COMPLETED|2024-03-01T10:00:05|2024-03-01T10:00:09|30||1|77|
3|c|CANCELLED by 5|2024-03-01T10:00:07|None|0|UNLIMITED|1||
"""
SACCT_JSON = json.dumps({"jobs": [
    {"job_id": n, "user": "u", "state": {"current": ["COMPLETED"]}, "allocation_nodes": 2,
     "time": {"submission": n, "start": n, "elapsed": 5, "limit": {"set": True, "number": 3}},
     "tres": {"allocated": [{"type": "energy", "count": 10}], "requested": []}}
    for n in range(3)]}).encode()
CSV = b"""t,d,n,u,p
2024-03-01 10:00:00,00:10:00,2,ann,5.5
2024-03-01 10:00:01,00:20:00,1,bob,
"""
MAP = """[columns]
submit_s = "t"
run_s = { column = "d", format = "clock" }
requested_procs = "n"
user = "u"
power_w = { column = "p", unit = "kW", per = "node" }
"""
SMALL = generate("leadership", seed=5, jobs=6)
SAMPLES = {
    "log.swf": swf_text(SMALL),
    "log.swf.gz": gzip.compress(swf_text(SMALL)),
    "jobs.txt": SACCT,
    "jobs.json": SACCT_JSON,
    "own.csv": csv_text(SMALL),
    "mapped.csv": CSV,
    "own.parquet": parquet_bytes(SMALL),
}


def try_to_read(folder: Path, name: str, data: bytes, strict: bool = False) -> Trace | None:
    """Read these bytes; anything but a result or one clear line fails the test."""
    path = folder / name
    path.write_bytes(data)
    column_map = None
    if name == "mapped.csv":
        column_map = folder / "map.toml"
        column_map.write_text(MAP)
    message = ""
    try:
        return read(path, column_map=column_map, strict=strict)
    except InputError as error:
        message = str(error)
    assert message
    assert "\n" not in message
    return None


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_readable(tmp_path: Path, name: str) -> None:
    trace = try_to_read(tmp_path, name, SAMPLES[name])
    assert trace is not None
    assert len(trace) >= 2


@pytest.mark.parametrize("name", SAMPLES)
@quick
@given(data=st.binary(max_size=400))
def test_arbitrary_bytes(tmp_path: Path, name: str, data: bytes) -> None:
    try_to_read(tmp_path, name, data)


letters = st.sampled_from("0123456789-.:,|;\n\t \"'{}[]eENaTPp_+\u00e9\u0660")


@pytest.mark.parametrize("name", [n for n in SAMPLES if not n.endswith((".gz", ".parquet"))])
@quick
@given(data=st.text(letters, max_size=300))
def test_text_that_looks_like_data(tmp_path: Path, name: str, data: str) -> None:
    first = SAMPLES[name].split(b"\n", 1)[0] + b"\n"
    try_to_read(tmp_path, name, data.encode())
    try_to_read(tmp_path, name, first + data.encode())


@st.composite
def damage(draw: st.DrawFn, data: bytes) -> bytes:
    """Flip, cut, double or insert bytes; or change digits alone, which often stays readable."""
    changed = bytearray(data)
    digits = [at for at, byte in enumerate(data) if chr(byte) in "0123456789"]
    if digits and draw(st.booleans()):
        for at in draw(st.lists(st.sampled_from(digits), min_size=1, max_size=4)):
            changed[at] = ord(draw(st.sampled_from("0123456789")))
        return bytes(changed)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(changed) - 1, 0)))
        length = draw(st.integers(0, 40))
        match draw(st.sampled_from(("flip", "cut", "double", "insert", "end"))):
            case "flip" if changed:
                changed[at] = draw(st.integers(0, 255))
            case "cut":
                del changed[at : at + length]
            case "double":
                changed[at:at] = changed[at : at + length]
            case "insert":
                changed[at:at] = draw(st.binary(max_size=8))
            case "end":
                del changed[at:]
    return bytes(changed)


def damaged(name: str) -> st.SearchStrategy[bytes]:
    """A sample after damage; of a compressed one, often of what was compressed."""
    if not name.endswith(".gz"):
        return damage(SAMPLES[name])
    inside = damage(gzip.decompress(SAMPLES[name])).map(gzip.compress)
    return st.one_of(inside, damage(SAMPLES[name]))


@pytest.mark.parametrize("name", SAMPLES)
def test_damage_leaves_some_files_readable(tmp_path: Path, name: str) -> None:
    """Otherwise the next test would check nothing but refusals."""
    data = find(damaged(name), lambda data: data != SAMPLES[name]
                and try_to_read(tmp_path, name, data) is not None)
    assert data


@pytest.mark.parametrize("name", SAMPLES)
@quick
@given(data=st.data(), strict=st.booleans())
def test_damaged_files(tmp_path: Path, name: str, data: st.DataObject, strict: bool) -> None:
    trace = try_to_read(tmp_path, name, data.draw(damaged(name)), strict)
    if trace is not None:
        assert (trace.jobs.run_s > 0).all()
        assert (trace.jobs.procs > 0).all()
        assert (trace.jobs.submit_s >= 0).all()
        assert (trace.jobs.requested_s > 0).all()
        lives = np.stack((trace.jobs.job_id, trace.jobs.restart))
        assert np.unique(lives, axis=1).shape[1] == len(trace)
        assert trace.cleaning.read - trace.cleaning.kept == sum(
            rule.jobs for rule in trace.cleaning.touched if rule.drops
        )


def entries_of(content: str) -> int:
    """Count how many columns a map names, at least one; 0 where it is refused in one line."""
    message = ""
    try:
        entries = parse_map(content, "map.toml").entries
        assert entries
        return len(entries)
    except InputError as error:
        message = str(error)
    assert message
    assert "\n" not in message
    return 0


@quick
@given(text=st.text(max_size=200), broken=damage(MAP.encode()))
def test_column_maps_are_read_or_refused(text: str, broken: bytes) -> None:
    for content in (text, broken.decode("utf-8", "replace")):
        entries_of(content)


def test_damage_leaves_some_column_maps_readable() -> None:
    found = find(damage(MAP.encode()), lambda data: data != MAP.encode()
                 and entries_of(data.decode("utf-8", "replace")) > 0)
    assert 0 < entries_of(found.decode("utf-8", "replace")) <= 5


number = st.one_of(
    st.integers(-2, 10**16).map(str),
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.sampled_from(["-1", "0", "1", ".5", "5.", "-", "+3", "1e3", "1_0", "x", "", "\t", "nan"]),
)


@quick
@given(lines=st.lists(st.lists(number, min_size=15, max_size=21).map(" ".join), max_size=8),
       end=st.sampled_from(["", "\n", "\r\n"]))
def test_both_swf_parsers_give_the_same(lines: list[str], end: str) -> None:
    text = ("; MaxProcs: 4\n" + "\n".join(lines) + end).encode()
    outcomes = []
    for compiled in (True, False):
        try:
            raw = swf.parse(text, "log", compiled=compiled)
            outcomes.append((raw.line.tolist(), raw.unreadable, raw.job_id.tolist(),
                             raw.submit_s.tobytes(), raw.run_s.tobytes(), raw.think_s.tobytes()))
        except InputError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


whole = st.integers(0, 10**9)
positive = st.one_of(st.integers(1, 10**7).map(float),
                     st.floats(1e-3, 1e7, allow_nan=False, allow_subnormal=False))
word = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@st.composite
def tables(draw: st.DrawFn) -> JobTable:
    """Clean job tables, with odd names, fractions and dependencies."""
    count = draw(st.integers(1, 7))

    def column(values: st.SearchStrategy[float]) -> list[float]:
        return draw(st.lists(values, min_size=count, max_size=count))

    ids = draw(st.lists(whole, min_size=count, max_size=count, unique=True))
    after = [draw(st.integers(-1, row - 1)) for row in range(count)]
    users = tuple(draw(st.lists(word, max_size=4, unique=True)))
    think = [draw(positive) if before >= 0 else 0.0 for before in after]
    return JobTable.build(
        job_id=ids, submit_s=sorted(column(st.one_of(positive, whole.map(float)))),
        run_s=column(positive), requested_s=column(positive), procs=column(st.integers(1, 10**6)),
        power_w=column(st.one_of(positive, st.just(float("nan")))),
        user=column(st.integers(-1, len(users) - 1)), group=column(st.integers(-1, 5)),
        queue=column(st.integers(-1, 5)), partition=column(st.integers(-1, 5)),
        application=column(st.integers(-1, 5)), status=column(st.integers(-1, 14)),
        restart=column(st.integers(0, 3)),
        after_job=after, think_s=think, names={"user": users} if users else {},
    )


@pytest.mark.parametrize("suffix", [".swf", ".swf.gz", ".csv", ".csv.xz", ".parquet"])
@quick
@given(jobs=tables())
def test_what_is_written_reads_back(tmp_path: Path, suffix: str, jobs: JobTable) -> None:
    path = tmp_path / f"log{suffix}"
    write(jobs, path)
    back = read(path).jobs
    for name, (dtype, _) in COLUMNS.items():
        same = np.array_equal(getattr(jobs, name), getattr(back, name),
                              equal_nan=dtype is np.float64)
        assert same, name
    assert [jobs.name_of("user", c) for c in jobs.user] == \
        [back.name_of("user", c) for c in back.user]
    # Writing is a fixed point: the same bytes again.
    again = tmp_path / f"again{suffix}"
    write(back, again)
    write(read(again).jobs, path)
    assert path.read_bytes() == again.read_bytes()


@quick
@given(values=hnp.arrays(np.float64, 3, elements=st.floats(1e-3, 1e12)))
def test_floats_survive_as_text(tmp_path: Path, values: np.ndarray) -> None:
    jobs = JobTable.build(submit_s=np.sort(values), run_s=values, procs=[1, 2, 3])
    write(jobs, tmp_path / "log.swf")
    assert read(tmp_path / "log.swf").jobs.run_s.tolist() == values.tolist()
