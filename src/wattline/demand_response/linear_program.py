"""A linear program that is put together piece by piece, and solved with HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import WattlineError
from wattline.model.signal import FloatArray

IntArray = npt.NDArray[np.int64]
INFINITE = float("inf")
METHODS = ("choose", "ipm")
"""The simplex method, and where it gives no answer in its time (it can go round in circles) that of
inner points."""
LONGEST_S = 30.0
"""For each of them: many times what a program takes that is solved, as other work slows it down."""


class UnsolvedError(WattlineError):
    """No method gave an answer."""


class LinearProgram:
    """Columns and rows with a lower and an upper limit each.

    Both are added many at a time, as arrays of any shape; a column is its number.
    """

    def __init__(self) -> None:
        self._lower: list[FloatArray] = []
        self._upper: list[FloatArray] = []
        self._row_lower: list[FloatArray] = []
        self._row_upper: list[FloatArray] = []
        self._row: list[IntArray] = []
        self._column: list[IntArray] = []
        self._factor: list[FloatArray] = []
        self.columns = 0
        self.rows = 0
        self._solver: Any = None

    def add(
        self, shape: tuple[int, ...], lower: npt.ArrayLike = 0.0, upper: npt.ArrayLike = INFINITE
    ) -> IntArray:
        """New columns; their numbers in this shape."""
        numbers = self.columns + np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
        self._lower.append(_flat(lower, shape))
        self._upper.append(_flat(upper, shape))
        self.columns += numbers.size
        return numbers

    def row(
        self, shape: tuple[int, ...], lower: npt.ArrayLike = -INFINITE,
        upper: npt.ArrayLike = INFINITE,
    ) -> IntArray:
        """New rows, empty so far; their numbers in this shape."""
        numbers = self.rows + np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
        self._row_lower.append(_flat(lower, shape))
        self._row_upper.append(_flat(upper, shape))
        self.rows += numbers.size
        return numbers

    def put(self, rows: npt.ArrayLike, columns: npt.ArrayLike, factors: npt.ArrayLike) -> None:
        """Factor times column, in each of these rows; the three are broadcast. Once for a pair."""
        row, column, factor = np.broadcast_arrays(
            np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64),
            np.asarray(factors, dtype=np.float64))
        kept = factor.ravel() != 0
        self._row.append(row.ravel()[kept])
        self._column.append(column.ravel()[kept])
        self._factor.append(factor.ravel()[kept])

    def least(self, cost: FloatArray) -> FloatArray | None:
        """The columns at the least of cost times columns; None where no values keep all rows."""
        import highspy

        solver = self._loaded()
        solver.changeColsCost(self.columns, np.arange(self.columns, dtype=np.int32), cost)
        for method in METHODS:
            solver.setOptionValue("solver", method)
            # The solver counts the time of all calls together.
            solver.setOptionValue("time_limit", solver.getRunTime() + LONGEST_S)
            solver.run()
            status = solver.getModelStatus()
            if status == highspy.HighsModelStatus.kInfeasible:
                return None
            if status == highspy.HighsModelStatus.kOptimal:
                return np.array(solver.getSolution().col_value)
            solver.clearSolver()
        raise UnsolvedError("the linear program of the bound was not solved: "
                            + solver.modelStatusToString(status))

    def _loaded(self) -> Any:
        if self._solver is None:
            self._solver = _solver()
            self._solver.passModel(self._model())
        return self._solver

    def _model(self) -> Any:
        import highspy

        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = self.columns, self.rows
        model.col_cost_ = np.zeros(self.columns)
        model.col_lower_ = np.concatenate(self._lower)
        model.col_upper_ = np.concatenate(self._upper)
        model.row_lower_ = np.concatenate(self._row_lower)
        model.row_upper_ = np.concatenate(self._row_upper)
        row, column = np.concatenate(self._row), np.concatenate(self._column)
        order = np.lexsort((row, column))
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kColwise
        matrix.start_ = np.append(0, np.cumsum(np.bincount(column, minlength=self.columns)))
        matrix.index_ = row[order]
        matrix.value_ = np.concatenate(self._factor)[order]
        return model


def _solver() -> Any:
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    return solver


def _flat(value: npt.ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    return np.broadcast_to(np.asarray(value, dtype=np.float64), shape).ravel()
