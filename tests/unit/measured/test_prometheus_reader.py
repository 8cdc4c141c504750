"""Range queries of a real Prometheus server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from tests.support import prometheus
from tests.support.commands import call, refused

from wattline.account.measured.readers import prometheus as reader
from wattline.account.measured.readers.prometheus import RangeQuery, read_prometheus
from wattline.account.measured.records import Kind
from wattline.model.errors import InputError, WattlineError

pytestmark = pytest.mark.servers

T0 = 1_790_812_800


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Two nodes with watts each half minute, n2 silent for the second hour; a counter; two GPUs."""
    lines = ["# TYPE node_watts gauge"]
    for step in range(360):
        lines.append(f'node_watts{{instance="n1:9100"}} {300 + step % 2} {T0 + 30 * step}')
    for step in (step for step in range(360) if not 120 <= step < 240):
        lines.append(f'node_watts{{instance="n2:9100"}} 150 {T0 + 30 * step}')
    lines.append("# TYPE gpu_watts gauge")
    for gpu in (0, 1):
        lines.extend(f'gpu_watts{{Hostname="n1",gpu="{gpu}"}} {400 + gpu} {T0 + 30 * step}'
                     for step in range(3))
    with prometheus.server("\n".join([*lines, "# EOF", ""])) as found:
        yield found


def test_a_range_becomes_a_series_per_node_with_its_gap(url) -> None:
    found = read_prometheus(RangeQuery(url, "node_watts", T0, T0 + 30 * 360, cluster="c"))
    first, second = found.series
    assert (first.cluster, first.entity, first.kind) == ("c", "n1", Kind.WATTS)
    assert first.time_s.tolist() == [T0 + 30 * step for step in range(360)]
    assert first.value.tolist() == [300 + step % 2 for step in range(360)]
    # The server repeats the last value for five minutes, and then has none for 55.
    assert np.diff(second.time_s).max() == 3300 + 30
    assert any("repeats" in remark for remark in found.remarks)


def test_a_long_range_is_asked_for_in_parts(url, monkeypatch) -> None:
    whole = read_prometheus(RangeQuery(url, "node_watts", T0, T0 + 30 * 360))
    monkeypatch.setattr(reader, "MOST_POINTS", 7)
    parts = read_prometheus(RangeQuery(url, "node_watts", T0, T0 + 30 * 360))
    for one, other in zip(whole.series, parts.series, strict=True):
        assert one.time_s.tolist() == other.time_s.tolist()
        assert one.value.tolist() == other.value.tolist()


def test_gpus_are_named_by_their_label(url) -> None:
    query = RangeQuery(url, "gpu_watts", T0, T0 + 60, label="Hostname", gpu_label="gpu")
    assert [each.entity for each in read_prometheus(query).series] == ["n1/gpu0", "n1/gpu1"]


@pytest.mark.parametrize(("expression", "label", "said"), [
    ("node_watts{", "instance", "refused"), ("nothing", "instance", "has nothing"),
    ("node_watts", "host", "no label 'host'"), ("gpu_watts", "Hostname", "more than one series"),
])
def test_what_the_server_cannot_answer_is_one_line(url, expression, label, said) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_prometheus(RangeQuery(url, expression, T0, T0 + 60, label=label))
    assert "\n" not in str(caught.value)


def test_a_server_that_is_not_there_is_a_failure() -> None:
    with pytest.raises(WattlineError, match="does not answer"):
        read_prometheus(RangeQuery("http://127.0.0.1:9", "up", T0, T0 + 60))


@pytest.mark.parametrize("wrong", [("file:///etc/passwd", "up", 0, 1), ("http://", "up", 0, 1),
                                   ("http://h", " ", 0, 1), ("http://h", "up", 1, 1),
                                   ("http://ann:secret@h", "up", 0, 1)])
def test_a_wrong_question_is_not_asked(wrong) -> None:
    with pytest.raises(InputError):
        RangeQuery(*wrong)


def test_account_import_asks_a_server_and_ranges_that_overlap_count_once(
    url, tmp_path, capsys
) -> None:
    def asked(*words):
        status, out, err = call(capsys, "account", "import", url, "--query", "node_watts",
                                "--store", tmp_path / "s.db", "--cluster", "c", "--step", "1m",
                                "--zone", "UTC", *words, "--json")
        assert status == 0, err
        return json.loads(out)

    first = asked("-S", "2026-10-01T00:00", "-E", "2026-10-01T00:30")
    # The sample at the end is of the time after it.
    assert (first["samples"], first["metered_j"]) == (60, (300 + 150) * 30 * 60)
    assert any("repeats the last sample" in remark for remark in first["remarks"])
    # Begins between two samples of the first, and has the same instants all the same.
    second = asked("-S", "2026-10-01T00:10:20", "-E", "2026-10-01T00:30:00")
    assert (second["samples"], second["new_samples"]) == (38, 0)
    assert second["mended"] == {}


def test_a_selector_gives_the_samples_as_they_are_with_every_gap(
    url, tmp_path, capsys, monkeypatch
) -> None:
    """n2 is silent for an hour; the look-back of the server would hide five minutes of it."""
    monkeypatch.setattr(reader, "OWN_S", 1000.0)  # in several questions
    status, out, err = call(capsys, "account", "import", url, "--query",
                            'node_watts{instance="n2:9100"}', "--store", tmp_path / "s.db",
                            "--cluster", "c", "--zone", "UTC", "-S", "2026-10-01T00:00", "-E",
                            "2026-10-01T02:30", "--fill", "none", "--json")
    assert status == 0, err
    found = json.loads(out)
    assert (found["samples"], found["metered_j"]) == (180, 150 * 180 * 30)
    assert not any("repeats" in remark for remark in found["remarks"])
    whole = read_prometheus(RangeQuery(url, "node_watts", T0, T0 + 30 * 360, own_samples=True))
    assert [each.time_s.size for each in whole.series] == [360, 240]
    assert whole.series[0].time_s.tolist() == [T0 + 30 * step for step in range(360)]


@pytest.mark.parametrize(("words", "said"), [
    ((), "needs --query"), (("--query", "up"), "from when to when"),
    (("--query", "up", "-S", "2026-10-02", "-E", "2026-10-01"), "is not after -S"),
    (("--query", "up", "-S", "2026-10-01", "-E", "2026-10-02", "--step", "0s"), "above 0"),
])
def test_a_server_needs_a_question_with_both_ends(tmp_path, capsys, words, said) -> None:
    assert said in refused(capsys, "account", "import", "http://127.0.0.1:9", *words, "--store",
                           tmp_path / "s.db")
    assert list(tmp_path.iterdir()) == []
