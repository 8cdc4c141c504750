"""Pictures of runs, asked for one by one: `run.plot.power()`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wattline.model.arguments import checked
from wattline.model.errors import InputError
from wattline.model.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Drawing:
    """A picture: notebooks show it, `save` writes it, `figure` is matplotlib's.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> wl.simulate(trace, machine=machine).plot.power()
    <picture: power; .save(FILE) writes it>
    """

    title: str
    figure: Figure

    @checked
    def save(self, path: str | Path) -> Path:
        """Write it to a file; the name's ending says in which form: .png, .svg or .pdf."""
        from wattline.model.pictures import save_picture

        return save_picture(self.figure, Path(path))

    def __repr__(self) -> str:
        return f"<picture: {self.title}; .save(FILE) writes it>"

    def _repr_png_(self) -> bytes:
        from wattline.analysis.drawing import png

        return png(self.figure)


@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """The pictures of one run, or of several over each other.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> wl.simulate(trace, machine=wl.Machine(nodes=32)).plot.power()
    <picture: power; .save(FILE) writes it>
    """

    _runs: Mapping[str, Run]

    def power(self) -> Drawing:
        """Power over time, with the caps."""
        return self._drawn("power")

    def utilisation(self) -> Drawing:
        """Share of the machine in use over time."""
        return self._drawn("utilisation")

    def queue(self) -> Drawing:
        """Jobs waiting over time."""
        return self._drawn("queue")

    def waits(self) -> Drawing:
        """Share of jobs that waited at most so long."""
        return self._drawn("waits")

    def durations(self) -> Drawing:
        """For how long the machine drew at least so much power."""
        return self._drawn("durations")

    def job_map(self) -> Drawing:
        """Which job held which nodes when; of one run whose nodes were chosen."""
        from wattline.analysis import plots

        run = self._one("job_map")
        figure = plots.job_map(run, plots.top_users(run))
        if figure is None:
            raise InputError("this run counted its nodes and did not choose them; choose a "
                             "placement such as first-fit")
        return Drawing("job_map", figure)

    def use_by_size(self) -> Drawing:
        """How much of the machine small and large jobs took over time; of one run."""
        from wattline.analysis import plots

        return Drawing("use_by_size", plots.use_by_size(self._one("use_by_size")))

    def __repr__(self) -> str:
        named = [name for name in vars(Plots) if not name.startswith("_") and name != "runs"]
        return f"<pictures: {', '.join(f'.{name}()' for name in named)}>"

    def _drawn(self, name: str) -> Drawing:
        from wattline.analysis import plots

        return Drawing(name, getattr(plots, name)(self._runs))

    def _one(self, name: str) -> Run:
        if len(self._runs) > 1:
            raise InputError(f"{name} draws one run, not {len(self._runs)}; ask each run for its "
                             "own")
        return next(iter(self._runs.values()))
