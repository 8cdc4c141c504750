"""What a policy remembers between decisions: arrays with names, kept beside the state.

A policy is parameters, and parameters do not change. What changes stands in a `Memory`, in a field
of the policy. The one that a policy is made with says what it begins with; whoever runs it takes
copies of its own (`bound`), saves them with the state and hands them back. So a policy can be used
again, and two that run at the same time have nothing in common.

Arrays in `PER_JOB` have an entry per row of the job table. They begin empty and grow with it;
`annotate` fills in what the policy has to know of new jobs, from a log or live alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.kernel_arrays import KernelArrays
from wattline.model.records import copied

Policy = TypeVar("Policy")


Find = Callable[[JobTable, Mapping[str, Any]], Any]
"""From jobs, and further columns of theirs, to what a policy has to know of each."""


class Memory(KernelArrays):
    """Subclass it with `FIELDS`, and with `PER_JOB` for those that have an entry per job.

    `find` says how entries of new jobs are found; those without a way begin with zero.
    """

    PER_JOB: ClassVar[Mapping[str, Any]] = {}
    LISTS: ClassVar[tuple[str, ...]] = ()
    """Those of `PER_JOB` that are lists of jobs: they have room for all, and hold rows."""

    def __init__(self, find: Mapping[str, Find] | None = None, **arrays: Any) -> None:
        super().__init__(**arrays)
        self.find = dict(find or {})

    @classmethod
    def start(cls, find: Mapping[str, Find] | None = None, **arrays: Any) -> Self:
        """A memory that begins with these arrays and knows no jobs yet."""
        return cls(find, **{name: _records(0, dtype) for name, dtype in cls.PER_JOB.items()}
                   | arrays)

    def copy(self) -> Self:
        return self.with_rows(0)

    def with_rows(self, rows: int) -> Self:
        """A copy with room for at least so many jobs."""
        mould = self.__dict__.get("_mould")
        if mould is not None and all(rows <= mould.rows(name) for name in self.PER_JOB):
            return cast(Self, mould.copied(self))
        return self.replaced({
            name: _longer(getattr(self, name), rows) if name in self.PER_JOB
            else copied(getattr(self, name))
            for name in self.FIELDS
        })

    def only(self, rows: Any) -> Self:
        """A copy for a table of jobs of which only these rows are left, in their order."""
        arrays = {
            name: getattr(self, name)[rows] if name in self.PER_JOB else getattr(self, name).copy()
            for name in self.FIELDS
        }
        for name in self.LISTS:
            listed = getattr(self, name)
            new = np.zeros(len(listed), dtype=listed.dtype)
            new[rows] = np.arange(len(rows))
            arrays[name] = new[listed][: len(rows)].copy()
        return self.replaced(arrays)

    def replaced(self, arrays: Mapping[str, Any]) -> Self:
        """The same memory with other arrays, as they were saved."""
        return type(self)(self.find, **arrays)

    def cycles(self) -> int:
        """Control cycles that a policy with this memory has in a whole run, where it has any."""
        return 0

    def forget(self, job: int) -> None:
        """A paused job is over, or withdrawn: a memory that lists those leaves it out."""

    def annotate(self, first: int, jobs: JobTable, logged: Mapping[str, Any]) -> None:
        """Note what the policy has to know of new jobs, in rows from `first` on.

        `logged` are further columns that a log or a resource manager gives, by name.
        """
        rows = slice(first, first + len(jobs))
        for name, find in self.find.items():
            getattr(self, name)[rows] = find(jobs, logged)


def memories(policy: Any) -> dict[str, Memory]:
    """The memories of a policy by where they stand; one that two axes share stands once."""
    found: dict[str, Memory] = {}
    seen: set[int] = set()

    def look(memory: Memory, place: str) -> Memory:
        if id(memory) not in seen:
            seen.add(id(memory))
            found[place] = memory
        return memory

    _walk(policy, look, "")
    return found


def bound(policy: Policy, rows: int) -> Policy:
    """The same policy with memories of its own that have room for so many jobs."""
    return _each(policy, lambda memory, _: memory.with_rows(rows))


def remembering(policy: Policy, saved: Mapping[str, Mapping[str, Any]]) -> Policy:
    """The same policy with the memories that were saved, by place."""
    return _each(policy, lambda memory, place: memory.replaced(saved[place]))


def each_memory(policy: Policy, change: Callable[[Memory], Memory]) -> Policy:
    """The same policy with every memory changed; one that two axes share stays shared."""
    return _each(policy, lambda memory, _: change(memory))


def same(one: Any, other: Any) -> bool:
    """Whether two policies, or parts of them, are one: the same parameters and the same memory."""
    return _match(one, other, lambda mine, its: mine is its)


def alike(one: Any, other: Any) -> bool:
    """Whether two policies, or parts of them, differ in nothing but what they remember."""
    return _match(one, other, lambda mine, its: type(mine) is type(its))


def _match(one: Any, other: Any, of_memory: Callable[[Memory, Memory], bool]) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Memory):
        return of_memory(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(
            _match(mine, its, of_memory) for mine, its in zip(one, other, strict=True))
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else bool(one == other)


def _each(policy: Policy, change: Callable[[Memory, str], Memory]) -> Policy:
    made: dict[int, Memory] = {}

    def once(memory: Memory, place: str) -> Memory:
        if id(memory) not in made:
            made[id(memory)] = change(memory, place)
        return made[id(memory)]

    changed: Policy = _walk(policy, once, "")
    return changed


def _walk(value: Any, visit: Callable[[Memory, str], Memory], place: str) -> Any:
    """Visit the memories in a NamedTuple of NamedTuples and put back what the visit returns."""
    if isinstance(value, Memory):
        return visit(value, place)
    if not isinstance(value, tuple) or not hasattr(value, "_fields"):
        return value
    dot = "." if place else ""
    group: Any = value
    changed = {}
    for name, part in zip(group._fields, group, strict=True):
        if isinstance(part, Memory | tuple):
            visited = _walk(part, visit, f"{place}{dot}{name}")
            if visited is not part:
                changed[name] = visited
    return group._replace(**changed) if changed else group


def _records(count: int, dtype: Any) -> Any:
    made = np.zeros(count, dtype=dtype)
    return made.view(np.recarray) if made.dtype.names else made


def _longer(array: Any, rows: int) -> Any:
    if rows <= len(array):
        return copied(array)
    more = np.zeros(rows - len(array), dtype=array.dtype)
    joined = np.concatenate([np.asarray(array), more])
    return joined.view(np.recarray) if array.dtype.names else joined
