"""Meters of a node side by side: bias, lag, noise, and what each costs the node."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from csv import writer as csv_writer
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.live.choice import choose
from wattline.live.found import KINDS, open_sensor, sensors_here
from wattline.live.recording import Cost, Recording, Track, record
from wattline.live.sensor import Sensor
from wattline.model.errors import InputError
from wattline.model.pictures import check_picture
from wattline.model.shown import Shown
from wattline.physics.metering.comparing import Compared, Series, compared
from wattline.physics.metering.stretches import Stretches, added

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class MeterRow:
    """One channel beside the reference; None where something cannot be told.

    >>> import wattline as wl
    >>> row = wl.MeterRow("rapl", "package-0", "cpu", reference=False, readings=60, missing=1,
    ...                   bias_w=-3.5, bias_share=-0.02, gain=0.98, lag_s=0.4, noise_w=1.2,
    ...                   cpu_share=0.01, read_s=0.002, remark="")
    >>> row.channel, row.lag_s
    ('package-0', 0.4)
    """

    sensor: str
    channel: str
    domain: str
    reference: bool
    """Whether the reference is made of it."""
    readings: int
    missing: int
    bias_w: float | None
    bias_share: float | None
    gain: float | None
    lag_s: float | None
    noise_w: float | None
    cpu_share: float
    """Of one core, at the pace at which it was read; of the whole sensor."""
    read_s: float
    """How long a reading of the whole sensor took."""
    remark: str


@dataclass(frozen=True, repr=False)
class SensorComparison(Shown):
    """What `compare_sensors` found.

    >>> import wattline as wl
    >>> found = wl.SensorComparison("ipmi power", 60.0, 1.0, rows=[], remarks=[], series={})
    >>> found.to_dict()["reference"]
    'ipmi power'
    """

    reference: str
    seconds: float
    every_s: float
    rows: list[MeterRow]
    remarks: list[str]
    series: dict[str, Stretches] = field(repr=False)
    """Per channel the power over time that it showed."""

    def to_dict(self) -> dict[str, Any]:
        return {"reference": self.reference, "seconds": self.seconds, "every_s": self.every_s,
                "meters": [asdict(row) for row in self.rows], "remarks": self.remarks}

    def to_pandas(self) -> pd.DataFrame:
        import pandas

        return pandas.DataFrame([asdict(row) for row in self.rows])

    def write_csv(self, path: str | Path) -> Path:
        """A table of watts at common times, a column per channel, as `fit_server_power` takes it.

        Rows are the stretches between readings of the reference; an empty cell is a gap.
        """
        file = Path(path)
        edges = self.series[self.reference.split(" + ")[0]].edge_s
        lasts_s = np.diff(edges)
        seen = {name: each.between(edges[:-1], edges[1:]) for name, each in self.series.items()}
        try:
            with file.open("w", encoding="utf-8", newline="") as table:
                writer = csv_writer(table)
                writer.writerow(["time_s", *seen])
                for row, time_s in enumerate(edges[:-1] - edges[0]):
                    writer.writerow([f"{time_s:.3f}", *(
                        f"{each.energy_j[row] / lasts_s[row]:.3f}"
                        if each.covered_s[row] >= 0.99 * lasts_s[row] else ""
                        for each in seen.values())])
        except OSError as error:
            raise InputError(f"{file} cannot be written: {error.strerror}") from None
        return file

    def draw(self, path: str | Path) -> Path:
        """Power over time by every meter; the ending of the name says in which form."""
        from wattline.live.comparing_plot import draw_comparison

        return draw_comparison(self, Path(path))


def compare_sensors(
    *meters: str, reference: str | None = None, seconds: float = 60.0, every: float = 1.0,
    plot: str | Path | None = None, csv: str | Path | None = None,
) -> SensorComparison:
    """Read meters side by side and say how far off, how late and how noisy each is.

    A meter is a kind, `powercap`, or a kind and a place, `ipmi=lanplus://admin@bmc7`; without any,
    all of this machine are taken. `reference` is what is believed, chosen by rule where it is not
    said. The load should change meanwhile, or lags cannot be told.

    >>> import wattline as wl
    >>> wl.compare_sensors("thermometer")
    Traceback (most recent call last):
        ...
    wattline.model.errors.InputError: there is no kind of sensor 'thermometer'; there are: \
pm_counters, powercap, redfish, ipmi, slurm, model, nvml, cpufreq
    """
    if plot is not None:
        check_picture(Path(plot))
    if not (every > 0 and 2 * every <= seconds < math.inf):
        raise InputError("--seconds must be at least twice --every, that above 0, and both finite")
    sensors, absent = opened(meters, reference)
    found = compare(record(sensors, seconds, every), every, reference)
    found.remarks.extend(f"no {kind}: {reason}" for kind, reason in absent.items())
    if plot is not None:
        found.draw(plot)
    if csv is not None:
        found.write_csv(csv)
    return found


def opened(
    meters: Sequence[str], reference: str | None
) -> tuple[dict[str, Sensor], dict[str, str]]:
    """Sensors by how they were named; and of this machine's, which are not there."""
    wanted = list(dict.fromkeys([*meters, *([reference] if reference else [])]))
    sensors, absent = ({}, {}) if meters else sensors_here()
    for text in wanted:
        kind, given, place = text.partition("=")
        if text not in sensors:
            sensors[text] = open_sensor(kind, place if given else None)
    if not sensors:
        raise InputError(f"no sensor was found on this machine (looked for: {', '.join(KINDS)})")
    return sensors, absent


def compare(recorded: Recording, every_s: float, reference: str | None = None) -> SensorComparison:
    """Every channel of a recording against the reference."""
    tracks = {(track.sensor, track.channel.name): track for track in recorded.tracks
              if len(track.time_s) - track.missing > 1}
    believed = choose({name: [track.channel for (sensor, _), track in tracks.items()
                              if sensor == name]
                       for name in dict.fromkeys(sensor for sensor, _ in tracks)
                       if reference in {None, name}})
    if believed is None:
        raise InputError("no meter that could be the reference gave two readings"
                         + (f": {reference}" if reference else ""))
    series = {key: _series(track) for key, track in tracks.items()}
    truth = added([series[key].stretches() for key in believed.channels])
    rows = [_row(track, recorded.costs, recorded.seconds, believed.channels,
                 compared(truth, series[key]) if key in series else None)
            for track in recorded.tracks for key in [(track.sensor, track.channel.name)]]
    return SensorComparison(
        " + ".join(map(_label, believed.channels)), recorded.seconds, every_s, rows,
        _remarks(recorded, every_s, believed.why),
        {_label(key): each.stretches() for key, each in series.items()})


def _series(track: Track) -> Series:
    return Series(np.array(track.time_s), np.array(track.value), track.channel.unit == "J",
                  np.array(track.broken, dtype=np.float64))


def _row(
    track: Track, costs: Mapping[str, Cost], seconds: float,
    believed: Sequence[tuple[str, str]], found: Compared | None,
) -> MeterRow:
    cost = costs[track.sensor]
    is_reference = (track.sensor, track.channel.name) in believed
    found = found or Compared(0, remark=next(iter(track.reasons), "it gave no two readings"))
    alone = is_reference and len(believed) == 1

    def told(value: float) -> float | None:
        return None if alone or math.isnan(value) else value

    return MeterRow(track.sensor, track.channel.name, track.channel.domain, is_reference,
                    len(track.time_s) - track.missing, track.missing, told(found.bias_w),
                    told(found.bias_share), told(found.gain), told(found.lag_s),
                    told(found.noise_w), cost.cpu_s / seconds, cost.wall_s / max(cost.reads, 1),
                    "the reference" if alone else found.remark)


def _remarks(recorded: Recording, every_s: float, why: str) -> list[str]:
    said = [f"the reference: {why}"]
    reads = max((cost.reads for cost in recorded.costs.values()), default=0)
    if reads and recorded.seconds / reads > 1.2 * every_s:
        said.append(f"readings took too long for every {every_s:g} s: they came every "
                    f"{recorded.seconds / reads:.2g} s")
    said += [f"{track.sensor} {track.channel.name}: {count} times {reason}"
             for track in recorded.tracks for reason, count in track.reasons.items()]
    return said


def _label(key: tuple[str, str]) -> str:
    return " ".join(key)
