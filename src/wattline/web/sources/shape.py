"""What every source says, in the form in which it is sent: SI units, the unit last in a name.

Times are seconds since the source's start; `epoch_s` is the Unix time of that second 0 where it
is known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from wattline.model.errors import InputError

Numbers = list[float]
Gaps = list[float | None]


class NoSuchJob(InputError):
    """The job that was asked for is not there."""


class Described:
    """What stands below a field in these sources is its description in the API's document."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True}


@dataclass(frozen=True)
class SourceName(Described):
    kind: Literal["demo", "run", "live"]
    name: str
    speed: float
    """Seconds of the machine per second of the viewer; 0 where it stands still."""


@dataclass(frozen=True)
class About(Described):
    version: str
    source: SourceName
    assumptions: list[str]
    """What the figures rest on, a sentence each."""
    operator_actions: list[str]
    """What an operator can do here; empty where nothing can be changed."""


@dataclass(frozen=True)
class Part:
    """A class, rack or feed."""

    name: str
    power_w: float | None
    cap_w: float | None = None


@dataclass(frozen=True)
class Decision(Described):
    time_s: float
    text: str
    job: str | None = None
    who: str | None = None
    """The operator who ordered it."""


@dataclass(frozen=True)
class Alarm:
    level: Literal["warning", "critical"]
    text: str
    since_s: float | None


@dataclass(frozen=True)
class Reservation:
    """Watts that are kept free from one time to another."""

    name: str
    start_s: float
    end_s: float
    watts: float


@dataclass(frozen=True)
class Now(Described):
    """The machine at this moment."""

    time_s: float
    epoch_s: float | None
    power_w: float | None
    cap_w: float | None
    target_w: float | None
    idle_w: float
    max_w: float
    by: dict[str, list[Part]]
    """Parts of the power: `class`, `rack` and `feed`."""
    running: int
    queued: int
    busy_nodes: int
    nodes: int
    decisions: list[Decision]
    alarms: list[Alarm]
    stale_s: float
    """Seconds since the source said something; above 0 only where it should have by now."""
    reservations: list[Reservation] = field(default_factory=list)
    """Watts that are kept free now or later; an operator can give them back by their name."""
    measured: bool = False
    """Whether the power is measured, or that of the books."""
    missing: dict[str, str] = field(default_factory=dict)
    """Parts that are not known, and why: a sentence each."""
    mode: str | None = None
    """Who starts jobs: `decide` is the controller, `guard` Slurm under watts as licences; null
    where there is no controller."""
    mode_since_s: float | None = None
    node_max_w: float | None = None
    """The most that a node of the hungriest class draws; null where no class is known."""


@dataclass(frozen=True)
class History:
    """Power, cap and queue over time; of each span the first and the last are kept, and the lowest
    and the highest of power and of queue."""

    time_s: Numbers
    power_w: Gaps
    cap_w: Gaps
    target_w: Gaps | None
    queued: Gaps


@dataclass(frozen=True)
class NodePage:
    time_s: float
    total: int
    first: int
    names: list[str]
    state: list[str]
    power_w: Gaps
    job: list[str | None]


@dataclass(frozen=True)
class RackTable:
    time_s: float
    name: list[str]
    nodes: list[int]
    power_w: Gaps
    state_counts: list[dict[str, int]]


@dataclass(frozen=True)
class JobRow(Described):
    id: str
    user: str | None
    account: str | None
    application: str | None
    state: str
    nodes: int
    submit_s: float
    start_s: float | None
    end_s: float | None
    wait_s: float | None
    elapsed_s: float | None
    requested_s: float | None
    power_w: float | None
    energy_j: float | None
    why: str | None = None
    """Of a job that waits: for what."""


@dataclass(frozen=True)
class JobPage:
    time_s: float
    total: int
    offset: int
    jobs: list[JobRow]


@dataclass(frozen=True)
class Profile:
    time_s: Numbers
    power_w: Gaps


@dataclass(frozen=True)
class Cost:
    amount: float
    currency: str


@dataclass(frozen=True)
class Alternative(Described):
    nodes: int
    cores: int | None
    cap_w: float | None
    frequency_ghz: float | None
    speed: float | None
    """Relative frequency, where the model knows no gigahertz."""
    time_s: float
    energy_j: float
    chosen: bool = False
    basis: str = "predicted"
    """`predicted` by a model, or how often it was `measured`."""
    time_range_s: tuple[float, float] | None = None
    energy_range_j: tuple[float, float] | None = None
    range_means: str = ""
    """What the ranges are: lowest and highest of earlier jobs, or one standard deviation."""


@dataclass(frozen=True)
class EnergyPart:
    """A part of a job's joules by how it is known; the shares of a job add up to 1."""

    how: Literal["measured", "told", "filled", "modelled"]
    share: float
    text: str


@dataclass(frozen=True)
class EnergyFigure:
    """The joules of the same job by a source that does not count."""

    source: str
    energy_j: float


@dataclass(frozen=True)
class JobDetail(Described):
    job: JobRow
    profile: Profile
    energy_j: float | None
    cost: Cost | None
    carbon_g: float | None
    coverage: float | None
    """Share of the job's node seconds that a meter saw; none where nothing was measured."""
    quality: list[str]
    configuration: str
    alternatives: list[Alternative]
    explanation: str
    node_names: list[str]
    assumptions: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    """Fields that are not known, and why."""
    energy_parts: list[EnergyPart] = field(default_factory=list)
    other_figures: list[EnergyFigure] = field(default_factory=list)
    """How far these are from `energy_j` says how sure it is."""


@dataclass(frozen=True)
class AccountRow:
    name: str
    jobs: int
    energy_j: float
    cost: Cost | None
    carbon_g: float | None
    node_s: float
    fairshare: float | None


@dataclass(frozen=True)
class AccountTable(Described):
    by: str
    rows: list[AccountRow]
    assumptions: list[str]
    missing: dict[str, str] = field(default_factory=dict)
    """Columns that are not known, and why."""


@dataclass(frozen=True)
class BudgetPeriod:
    from_s: float
    to_s: float
    budget_j: float
    used_j: float
    time_s: Numbers
    used_series_j: Numbers


@dataclass(frozen=True)
class BudgetTable(Described):
    periods: list[BudgetPeriod]
    assumptions: list[str]
    """Where there are no periods, why."""


@dataclass(frozen=True)
class BillLine:
    name: str
    energy_j: float
    amount: float | None
    carbon_g: float | None


@dataclass(frozen=True)
class BillTable(Described):
    by: str
    from_s: float
    to_s: float
    currency: str | None
    lines: list[BillLine]
    """Users or accounts, then what nobody's job drew, so that the lines add up to the total."""
    total_j: float
    total_amount: float | None
    total_carbon_g: float | None
    assumptions: list[str]


@dataclass(frozen=True)
class JobQuestion:
    """Which jobs are asked for, and in which order."""

    search: str = ""
    state: str = ""
    user: str = ""
    account: str = ""
    sort: str = "submit_s"
    descending: bool = True
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True)
class Act:
    """Something that an operator wants: an action by its name and what it takes."""

    action: str
    value: Mapping[str, Any]


@dataclass(frozen=True)
class Done:
    """What came of an action."""

    said: str
    time_s: float
    remarks: list[str]


class Source(Protocol):
    """A machine to look at. Methods raise `InputError` for what cannot be asked of it.

    Between two calls of `turn` all answers are of one moment, for a second or so: figures that
    stand side by side agree.
    """

    def turn(self) -> None: ...
    def users(self, jobs: Collection[str]) -> dict[str, str | None]: ...
    def about(self) -> About: ...
    def now(self) -> Now: ...
    def history(self, from_s: float | None, to_s: float | None, points: int) -> History: ...
    def nodes(self, offset: int, limit: int) -> NodePage: ...
    def racks(self) -> RackTable: ...
    def queue(self, offset: int, limit: int) -> JobPage: ...
    def jobs(self, question: JobQuestion) -> JobPage: ...
    def job(self, job: str) -> JobDetail: ...
    def accounts(self, by: str, owner: str | None) -> AccountTable: ...
    def budget(self) -> BudgetTable: ...
    def bill(self, by: str, owner: str | None) -> BillTable: ...
    def energy_j(self) -> float | None: ...
    def finished(self) -> dict[str, int]: ...
    def consequences(self, act: Act) -> list[str]: ...
    def apply(self, act: Act, who: str) -> Done: ...
