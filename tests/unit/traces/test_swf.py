"""Reading SWF: fields, header, dirt, damage; and the real logs where they are at hand."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.traces import read, swf

HEADER = "; Version: 2.2\n; MaxNodes: 64\n; Note: one\n; Note: two\n; Queue: 1 night\n"


def job(number: int = 1, submit: float = 0, run: float = 60, **fields: float) -> str:
    """One line; `fields` sets others as f8=4."""
    words = [str(number), str(submit), "-1", str(run), "4", "-1", "-1", "4", "120", "-1", "1",
             "7", "8", "9", "1", "2", "-1", "-1"]
    for name, value in fields.items():
        words[int(name[1:]) - 1] = str(value)
    return " ".join(words)


def log(tmp_path: Path, *lines: str, header: str = HEADER, end: str = "\n") -> Path:
    path = tmp_path / "log.swf"
    path.write_text(header + "\n".join(lines) + end)
    return path


def test_fields_go_to_their_columns(tmp_path: Path) -> None:
    trace = read(log(tmp_path, job(5, 100, 60, f3=7, f5=6, f8=4, f9=90),
                     job(6, 110, 30, f17=5, f18=3)))
    jobs = trace.jobs
    assert jobs.job_id.tolist() == [5, 6]
    assert jobs.submit_s.tolist() == [100, 110]
    assert jobs.run_s.tolist() == [60, 30]
    assert jobs.requested_s.tolist() == [90, 120]
    assert jobs.procs.tolist() == [4, 4]
    assert (jobs.user[0], jobs.group[0], jobs.application[0]) == (7, 8, 9)
    assert (jobs.queue[0], jobs.partition[0], jobs.status[0]) == (1, 2, 1)
    assert jobs.after_job.tolist() == [-1, 0]
    assert jobs.think_s.tolist() == [0, 3]
    assert np.isnan(jobs.power_w).all()
    assert trace.logged["wait_s"][0] == 7
    assert trace.logged["allocated_procs"].tolist() == [6, 4]
    assert np.isnan(trace.logged["wait_s"][1])
    assert jobs.name_of("queue", 1) == "night"
    assert trace.header == {"Version": "2.2", "MaxNodes": "64", "Note": "one\ntwo"}
    assert trace.machine_procs() == 64


def test_allocated_size_first_when_asked(tmp_path: Path) -> None:
    path = log(tmp_path, job(f5=6, f8=4), job(2, f5=-1, f8=4))
    assert read(path).jobs.procs.tolist() == [4, 4]
    trace = read(path, size="allocated")
    assert trace.jobs.procs.tolist() == [6, 4]
    assert trace.cleaning.count("other_size") == 1


def test_every_rule_counts_and_names_its_first_line(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        job(1, 50),                      # line 1
        job(1, 60),                      # 2 duplicate id
        "rubbish",                       # 3 unreadable
        job(3, -1),                      # 4 no submission time
        job(4, 70, 0, f11=5),            # 5 cancelled before its start
        job(5, 70, -1),                  # 6 no run time
        job(6, 70, f5=-1, f8=-1),        # 7 no size
        job(7, 80, f8=-1),               # 8 size from the other field
        job(8, 80, f8=65),               # 9 larger than the machine
        job(9, 80, f9=-1),               # 10 no request
        job(10, 80, 121),                # 11 overrun
        job(11, 10),                     # 12 unsorted
        job(12, 90, f17=99),             # 13 unknown predecessor
        job(13, 90, f2="nan"),           # 14 unreadable
        header="",
    )
    trace = read(path, machine_procs=64)
    found = {rule.name: (rule.jobs, rule.first_line) for rule in trace.cleaning.touched}
    assert found == {
        "unreadable": (2, 3), "duplicate_id": (1, 2), "no_submit": (1, 4), "cancelled": (1, 5),
        "no_runtime": (1, 6), "no_size": (1, 7), "other_size": (1, 8), "too_large": (1, 9),
        "no_request": (1, 10), "overrun": (1, 11), "unsorted": (1, 12), "lost_dependency": (1, 13),
    }
    assert trace.cleaning.read == 14
    assert trace.cleaning.kept == len(trace) == 7
    assert trace.cleaning.dropped == 7
    assert trace.jobs.job_id.tolist() == [11, 1, 1, 7, 9, 10, 12]
    assert trace.jobs.restart.tolist() == [0, 0, 1, 0, 0, 0, 0]
    assert trace.jobs.requested_s.tolist()[4] == 60
    with pytest.raises(InputError, match=r"log\.swf:2: duplicate_id: .*Strict"):
        read(path, strict=True, machine_procs=64)


def test_strict_accepts_a_clean_log(tmp_path: Path) -> None:
    assert len(read(log(tmp_path, job(1), job(2, 5)), strict=True)) == 2


def test_a_predecessor_may_be_followed_only_to_an_earlier_row(tmp_path: Path) -> None:
    trace = read(log(tmp_path, job(1, 0, f17=2, f18=9), job(2, 5), job(3, 6, f17=3)))
    assert trace.jobs.after_job.tolist() == [-1, -1, -1]
    assert trace.jobs.think_s.tolist() == [0, 0, 0]
    assert trace.cleaning.count("lost_dependency") == 2


def test_a_column_that_names_one_job_everywhere_is_filler(tmp_path: Path) -> None:
    trace = read(log(tmp_path, *(job(n, n, f17=1, f18=1) for n in range(1, 21))))
    assert (trace.jobs.after_job == -1).all()
    assert trace.cleaning.count("filler_dependency") == 20


def test_tabs_and_extra_fields_are_tolerated(tmp_path: Path) -> None:
    line = job(1).replace(" ", "\t")
    trace = read(log(tmp_path, line + "\t0", job(2) + " {1,2,3} q_1d 1:ppn=12", end=""))
    assert len(trace) == 2


@pytest.mark.parametrize("compressed", [gzip.compress, lzma.compress, bz2.compress])
def test_compression_is_found_by_content_and_damage_is_named(tmp_path: Path, compressed) -> None:
    text = (HEADER + "\n".join(job(n, n) for n in range(1, 400)) + "\n").encode()
    path = tmp_path / "log.swf"
    path.write_bytes(compressed(text))
    assert len(read(path)) == 399
    path.write_bytes(compressed(text)[:-20])
    with pytest.raises(InputError, match=r"cut off|damaged"):
        read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"; Version: 2\n", "no job lines"),
        (b"\x00\x01\x02" * 50, "binary"),
        (b"hello\nworld\n", "not SWF"),
        (job(1).encode() + b"\n" + job(2).encode()[:20], r":2: the file is cut off"),
        (job(1, run=-1).encode() + b"\n", r"no job is left of 1 .*no run time .* .1 time"),
        (b"\x1f\x8b\x08rubbish", "damaged|cut off"),
    ],
)
def test_damaged_files_give_one_clear_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_lying_suffix_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "nothing.swf")
    path = tmp_path / "log.swf.gz"
    path.write_text(job(1) + "\n")
    with pytest.raises(InputError, match=r"is not \.gz data"):
        read(path)


def test_both_parsers_agree_on_unusual_numbers() -> None:
    lines = [job(1, 12.5, 1e-3), job(2, 0.1, 123456789012345678), job(3, 5, 60, f6=3.25),
             job(4, 7, "6e1"), job(5, 8, "+60"), job(6, 9, ".5"), job(7, 9, "1_0"), "x"]
    text = ("\n".join(lines) + "\r\n").encode()
    fast, slow = (swf.parse(text, "log", compiled=compiled) for compiled in (True, False))
    assert fast.unreadable == slow.unreadable == (2, 7, 8)
    assert fast.line.tolist() == slow.line.tolist() == [1, 3, 4, 5, 6]
    assert fast.run_s.tolist() == slow.run_s.tolist() == [1e-3, 60, 60, 60, 0.5]
    assert fast.submit_s.tolist() == slow.submit_s.tolist()


@pytest.mark.parametrize(
    ("name", "read_jobs", "kept", "procs"),
    [
        ("KTH-SP2-1996-2.1-cln.swf.xz", 28_476, 28_467, 100),
        ("mira_walltime.swf.xz", 22_508, 22_508, 49_152),
        ("theta_walltime.swf.xz", 23_387, 23_387, 4_392),
        ("wagap-2013.swf.xz", 17_900, 17_898, None),
        ("LLNL-Atlas-2006-2.1-cln.swf.xz", 43_778, 36_600, 9_216),
        ("lublin_256.swf.xz", 10_000, 10_000, 256),
        pytest.param("CEA-Curie-2011-2.1-cln.swf.gz", 312_826, 295_540, 93_312,
                     marks=pytest.mark.long),  # three seconds
    ],
)
def test_real_logs(name: str, read_jobs: int, kept: int, procs: int | None) -> None:
    trace = read(shared(f"swf/{name}"))
    assert (trace.cleaning.read, trace.cleaning.kept) == (read_jobs, kept)
    assert trace.machine_procs() == procs
    assert trace.cleaning.count("unreadable") == 0
    assert (np.diff(trace.jobs.submit_s) >= 0).all()
    assert (trace.jobs.run_s > 0).all()
    assert (trace.jobs.procs > 0).all()


def test_a_byte_order_mark_is_not_part_of_the_first_line(tmp_path):
    path = tmp_path / "bom.swf"
    path.write_bytes(b"\xef\xbb\xbf1 0 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1\n")
    assert read(path, strict=True).jobs.procs.tolist() == [4]
