"""The linear program of the bound: watts for each type of jobs in each block, and the bid itself.

That the error may be large for a share of the time is a product of how much of a block is missed
and of the bid. The products are columns of their own, held by what holds for the bid, multiplied by
the missed and by the kept part (reformulation and linearisation): all that any rule does stays
allowed, and no number has to be chosen that is large enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wattline.demand_response.fluid import Fluid, Stream
from wattline.demand_response.linear_program import IntArray, LinearProgram
from wattline.model.signal import FloatArray

W_PER_KW = 1000.0


@dataclass(frozen=True)
class Side:
    """Holds for every bid: average times a, plus reserve times b, is at least so many kW."""

    average: float
    reserve: float
    least_kw: float


@dataclass(frozen=True)
class Tolerance:
    """The error that is allowed, relative to the reserve, and the share of time for any error."""

    error: float
    missed: float


class BoundProgram:
    """All powers in kW, work in servers times blocks.

    A bid that is given holds as limits of its columns: as rows the sides that pin it down are
    nearly the same for the solver, which then goes round in circles.
    """

    def __init__(
        self, fluid: Fluid, sides: Sequence[Side], tolerance: Tolerance,
        given_kw: tuple[float, float] | None = None,
    ) -> None:
        self.fluid = fluid
        self.program = LinearProgram()
        if given_kw is None:
            self.average, self.reserve = self.program.add((2,), -np.inf)
            self._hold_bid(sides)
        else:
            self.average, self.reserve = self.program.add((2,), given_kw, given_kw)
        count = (fluid.blocks,)
        self.power = self.program.add(count)
        self.error = self.program.add(count)
        self._pay_errors()
        self._keep_target(sides, tolerance)
        self._add_servers()
        for stream in fluid.streams:
            self._run_stream(stream)
        for mode in fluid.standby:
            self._occupy(self.program.add(count), mode.power_w / W_PER_KW)

    @property
    def columns(self) -> int:
        return self.program.columns

    def solve(self, cost: FloatArray) -> FloatArray | None:
        return self.program.least(cost)

    def _hold_bid(self, sides: Sequence[Side]) -> None:
        for side in sides:
            row = self.program.row((1,), lower=side.least_kw)
            self.program.put(row, self.average, side.average)
            self.program.put(row, self.reserve, side.reserve)

    def _pay_errors(self) -> None:
        """The error of a block is at least that of its means."""
        count = (self.fluid.blocks,)
        for sign in (1.0, -1.0):
            rows = self.program.row(count, lower=0.0)
            self.program.put(rows, self.error, 1.0)
            self.program.put(rows, self.power, sign)
            self._put_target(rows, self.fluid.level, -sign)

    def _put_target(self, rows: IntArray, level: FloatArray, sign: float) -> None:
        self.program.put(rows, self.average, sign)
        self.program.put(rows, self.reserve, sign * level)

    def _keep_target(self, sides: Sequence[Side], tolerance: Tolerance) -> None:
        """Power within the error of the target, but for what is missed in the block."""
        fluid, program = self.fluid, self.program
        if tolerance.missed >= 1:
            return
        count = (fluid.blocks,)
        missed = program.add(count, upper=1.0)
        average, reserve = program.add(count, -np.inf), program.add(count, -np.inf)
        self._multiply(sides, missed, average, reserve)
        self._share_out(missed, average, reserve, tolerance.missed * fluid.blocks)
        least_kw, most_kw = (w / W_PER_KW for w in fluid.reach_w)
        # Missed time draws the least where the target is highest, and the most where it is lowest;
        # what is kept is within reach by itself.
        above = (fluid.level - tolerance.error, fluid.level_high - tolerance.error)
        below = (fluid.level + tolerance.error, fluid.level_low + tolerance.error)
        self._keep_side(1.0, above, least_kw, most_kw, (missed, average, reserve))
        self._keep_side(-1.0, below, most_kw, least_kw, (missed, average, reserve))

    def _keep_side(
        self, sign: float, level: tuple[FloatArray, FloatArray], missed_kw: float, kept_kw: float,
        products: tuple[IntArray, IntArray, IntArray],
    ) -> None:
        """Power above (or with -1 below) the mean level of a block, but for what is missed of it.

        The missed part draws `missed_kw` at the worst, and lies at the second level; the kept one
        draws no more (or no less) than `kept_kw`.
        """
        program, (missed, average, reserve) = self.program, products
        lower = -np.inf if sign > 0 else kept_kw
        upper = kept_kw if sign > 0 else np.inf
        power = program.row(missed.shape, *((0.0,) if sign > 0 else (-np.inf, 0.0)))
        reach = program.row(missed.shape, lower, upper)
        program.put(power, self.power, 1.0)
        program.put(power, missed, -missed_kw)
        program.put(reach, missed, kept_kw)
        for rows, side in ((power, 1.0), (reach, -1.0)):
            self._put_target(rows, level[0], -side)
            program.put(rows, average, side)
            program.put(rows, reserve, side * level[1])

    def _multiply(
        self, sides: Sequence[Side], missed: IntArray, average: IntArray, reserve: IntArray
    ) -> None:
        """What holds for the bid, times the missed part of each block and times the rest."""
        program = self.program
        for side in sides:
            times_missed = program.row(missed.shape, lower=0.0)
            times_kept = program.row(missed.shape, lower=side.least_kw)
            for rows, sign in ((times_missed, 1.0), (times_kept, -1.0)):
                program.put(rows, average, sign * side.average)
                program.put(rows, reserve, sign * side.reserve)
                program.put(rows, missed, -sign * side.least_kw)
            program.put(times_kept, self.average, side.average)
            program.put(times_kept, self.reserve, side.reserve)

    def _share_out(
        self, missed: IntArray, average: IntArray, reserve: IntArray, blocks: float
    ) -> None:
        """All that may be missed is granted: so the products sum to that much of the bid."""
        program = self.program
        program.put(program.row((1,), lower=blocks, upper=blocks), missed, 1.0)
        for products, whole in ((average, self.average), (reserve, self.reserve)):
            row = program.row((1,), lower=0.0, upper=0.0)
            program.put(row, products, 1.0)
            program.put(row, whole, -blocks)

    def _add_servers(self) -> None:
        """The power is that of the jobs and of the servers without one, on or off."""
        fluid, program = self.fluid, self.program
        low_kw, high_kw = (w / W_PER_KW for w in fluid.idle_w)
        self._busy = [program.row(self.power.shape, upper=fluid.servers)]
        self._power = (
            (program.row(self.power.shape, lower=low_kw * fluid.servers), low_kw),
            (program.row(self.power.shape, upper=high_kw * fluid.servers), high_kw),
        )
        for rows, _ in self._power:
            program.put(rows, self.power, 1.0)
        if fluid.sleep is None:
            return
        off = program.add(self.power.shape)
        self._occupy(off, fluid.sleep.off_w / W_PER_KW)
        # Who runs a job was not off for as long as a boot takes, nor is it soon after.
        for blocks in range(-int(fluid.sleep.shutdown_s / fluid.block_s),
                            int(fluid.sleep.boot_s / fluid.block_s) + 1):
            if blocks != 0 and abs(blocks) < fluid.blocks:
                rows = program.row(self.power.shape, upper=fluid.servers)
                here = slice(max(0, blocks), fluid.blocks + min(0, blocks))
                before = slice(max(0, -blocks), fluid.blocks - max(0, blocks))
                program.put(rows[here], off[before], 1.0)
                self._busy.append(rows)

    def _occupy(self, servers: IntArray, power_kw: float) -> None:
        """So many servers in each block at this power."""
        for rows in self._busy:
            self.program.put(rows, servers, 1.0)
        for rows, idle_kw in self._power:
            self.program.put(rows, servers, idle_kw - power_kw)

    def _run_stream(self, stream: Stream) -> None:
        """Work that is done once it is there, and in time but for what may be late."""
        program, unit = self.program, self.fluid.block_s
        first = program.add((1,), upper=stream.before / unit)
        done = program.add((self.fluid.blocks,), stream.least / unit, stream.most / unit)
        rows = program.row(done.shape, lower=0.0, upper=0.0)
        program.put(rows, done, -1.0)
        program.put(rows, np.append(first, done[:-1]), 1.0)
        for mode in stream.modes:
            servers = program.add(done.shape)
            program.put(rows, servers, mode.speed)
            self._occupy(servers, mode.power_w / W_PER_KW)
