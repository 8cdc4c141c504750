"""Slurm's associations: which user may charge which account of which cluster, with what shares.

They come from `sacctmgr show assoc -P tree` (a table), from `sacctmgr dump` (a file that
`sacctmgr load` takes), or from the `sacctmgr` commands that made them (`wattline.site.commands`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wattline.model.errors import InputError
from wattline.site.limits import Written, settings_of, unknown_among, written_of
from wattline.site.lines import refuse_name, site_text

ROOT = "root"
"""The account that all others of a cluster lie under."""
PARENT = None
"""Shares of an association that has none of its own and uses its parent's."""
_COLUMNS = {
    "cluster": "cluster", "account": "account", "user": "user", "partition": "partition",
    "share": "shares", "fairshare": "shares", "rawshares": "shares", "par name": "parent",
    "parentname": "parent", "def acct": "default",
}
NO_SETTINGS = frozenset({
    "cluster", "account", "user", "partition", "share", "fairshare", "rawshares", "parname",
    "parentname", "defacct", "defaultaccount", "parent", "parentid", "id", "lft", "rgt", "comment",
    "lineage", "description", "descr", "organization", "org", "adminlevel", "admin", "coordinator",
    "coordinators", "coordaccounts", "defaultwckey", "defwckey", "wckey", "wckeys", "rawusage",
    "classification", "shares",
})
"""Columns and keys that are no limits: read otherwise, or of no matter to any start."""


@dataclass(frozen=True)
class Association:
    """An account, or a user in an account."""

    cluster: str
    account: str
    user: str = ""
    """Empty for the account itself."""
    partition: str = ""
    parent: str = ""
    """Of an account: the one that it lies in; empty for the root."""
    shares: int | None = 1
    """None uses those of the parent (`Fairshare=parent`)."""
    default: bool = False
    """Whether jobs of the user that name no account are charged here."""
    settings: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Limits, QOS and priority by the names of `wattline.site.limits`."""
    written: Mapping[str, Written] = field(default_factory=dict, compare=False)
    """How and where each of these settings is written."""
    where: str = field(default="", compare=False)
    """File and line."""


@dataclass(frozen=True)
class Associations:
    source: str
    rows: tuple[Association, ...]
    remarks: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Keys, columns and lines that nothing is known of, with their places."""

    @property
    def clusters(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.cluster for row in self.rows))

    def of(self, cluster: str = "") -> tuple[Association, ...]:
        """The rows of one cluster; without a name there must be one only."""
        if not cluster and len(self.clusters) > 1:
            raise InputError(f"{self.source}: has the clusters {', '.join(self.clusters)}; say "
                             "which one is meant")
        rows = tuple(row for row in self.rows if row.cluster == (cluster or self.clusters[0]))
        if not rows:
            raise InputError(f"{self.source}: has no cluster '{cluster}'; it has "
                             f"{', '.join(self.clusters)}")
        return rows


def read_associations(path: str | Path) -> Associations:
    """Read associations from a table, a dump or a script of `sacctmgr`."""
    from wattline.site.commands import associations_of

    text = site_text(path)
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1)
             if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise InputError(f"{path}: is empty")
    first = lines[0][1]
    if "|" in first:
        found = _table(lines, str(path))
    elif re.match(r"\s*Cluster - ", first):
        found = _dump(lines, str(path))
    else:
        found = associations_of(lines, str(path))
    return replace(found, rows=_checked(found))


def shares_of(text: str, where: str) -> int | None:
    """Shares as Slurm writes them: a whole number, or `parent`; nothing is 1."""
    if text.strip().lower() in ("parent", "2147483647"):
        return PARENT
    if not re.fullmatch(r"[0-9]{0,9}", text.strip()):
        raise InputError(f"{where}: the shares are '{text}', must be a whole number or parent")
    return int(text.strip() or 1)


def _table(lines: Sequence[tuple[int, str]], source: str) -> Associations:
    """Columns between bars; the account is moved in by a blank per level of the tree."""
    names = lines[0][1].split("|")
    header = [_COLUMNS.get(name.strip().lower(), "") for name in names]
    if "account" not in header or "user" not in header or "JobID" in names:
        raise InputError(f"{source}:{lines[0][0]}: {_no_table(names)}; write it with sacctmgr show "
                         "assoc -P tree, or sacctmgr dump")
    rows: list[Association] = []
    above: list[tuple[int, str]] = []
    for number, line in lines[1:]:
        where = f"{source}:{number}"
        fields = line.split("|")
        if len(fields) < len(header):
            raise InputError(f"{where}: has {len(fields)} columns, the header {len(header)}; the "
                             "line is cut off")
        row = dict(zip(header, fields, strict=False))
        account, depth = row["account"].strip(), _depth(row["account"])
        user, cluster = row["user"].strip(), row.get("cluster", "").strip()
        refuse_name(account, where)
        if not user:
            above = [each for each in above if each[0] < depth]
            parent = row.get("parent", "").strip() or (above[-1][1] if above else "")
            above.append((depth, account))
        else:
            parent = account
        rows.append(Association(
            cluster, account, user, row.get("partition", "").strip(), parent,
            shares_of(row.get("shares", ""), where),
            bool(user) and row.get("default", "").strip() == account,
            settings_of(cell for cell in zip(names, fields, strict=False) if cell[1].strip()),
            written_of(names, where), where))
    remarks = [] if "shares" in header else [
        f"{source}: has no column Share; every share counts as 1"]
    flat = [row.account for row in rows if not row.user and not row.parent and row.account != ROOT]
    if flat and any(row.account == ROOT for row in rows):
        remarks.append(f"{source}: the accounts are not moved in, so all lie under root; a tree is "
                       "written by sacctmgr show assoc -P tree")
    unknown = tuple(f"{source}:{lines[0][0]}: column {name}"
                    for name in unknown_among(names, NO_SETTINGS) if name.strip())
    return Associations(source, tuple(rows), tuple(remarks), unknown)


def _no_table(names: Sequence[str]) -> str:
    return "is a log of jobs" if "JobID" in names else "has no columns Account and User"


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _dump(lines: Iterable[tuple[int, str]], source: str) -> Associations:
    """`Cluster - 'x':...`, `Parent - 'a'`, then the accounts and users below it."""
    rows: list[Association] = []
    unknown: list[str] = []
    cluster, parent = "", ROOT
    for number, line in lines:
        where = f"{source}:{number}"
        found = re.fullmatch(r"\s*(Cluster|Parent|Account|User) - (.*)", line)
        if not found:
            unknown.append(f"{where}: '{line.strip()[:40]}' is no cluster, parent, account or user")
            continue
        name, pairs, rest = _entry(found[2], where)
        unknown += [f"{where}: {key}={pairs[key]} of '{name}'"
                    for key in unknown_among(pairs, NO_SETTINGS)]
        unknown += [f"{where}: '{rest[:40]}' of '{name}' is not Key=Value"] if rest else []
        given = {key.lower(): value for key, value in pairs.items()}
        shares = shares_of(given.get("fairshare", ""), where)
        settings, written = settings_of(given.items()), written_of(pairs, where)
        if found[1] == "Cluster":
            cluster, parent = name, ROOT
            rows.append(Association(cluster, ROOT, shares=shares, settings=settings,
                                    written=written, where=where))
        elif found[1] == "Parent":
            parent = name
        elif found[1] == "Account":
            rows.append(Association(cluster, name, parent=parent, shares=shares,
                                    settings=settings, written=written, where=where))
        else:
            rows.append(Association(cluster, parent, name, given.get("partition", ""), parent,
                                    shares, given.get("defaultaccount", "") == parent,
                                    settings, written, where))
    return Associations(source, tuple(rows), (), tuple(unknown))


# The colon of a type (gres/gpu:a100=1) is part of a value.
_VALUE = r"(?:'[^']*'|(?:gres/[^:=,']+:|[^:])*)"


def _entry(text: str, where: str) -> tuple[str, dict[str, str], str]:
    """`'name':Key='a value':Key=value`, and what is left; a quoted value may have colons."""
    name = re.match(_VALUE, text)[0]  # type: ignore[index]
    pair = re.compile(rf":([^:=]+)=({_VALUE})")
    found = pair.findall(text[len(name):])
    rest = pair.sub("", text[len(name):]).strip().strip(":")
    refuse_name(name.strip().strip("'"), where)
    return name.strip().strip("'"), {key.strip(): value.strip("'") for key, value in found}, rest


def _checked(found: Associations) -> tuple[Association, ...]:
    """Each association once, every account in root or one that is there, and root itself."""
    rows: dict[tuple[str, str, str, str], Association] = {
        (cluster, ROOT, "", ""): Association(cluster, ROOT) for cluster in found.clusters}
    seen = set()
    for row in found.rows:
        if not row.parent and row.account != ROOT:
            row = replace(row, parent=ROOT)  # noqa: PLW2901
        key = (row.cluster, row.account, row.user, row.partition)
        if key in seen and rows[key] != row:
            who = f"user '{row.user}' in " if row.user else ""
            raise InputError(f"{row.where or found.source}: {who}account '{row.account}' stands "
                             f"there twice (first in {rows[key].where}), with other shares or "
                             "another parent")
        rows[key] = row
        seen.add(key)
    for row in found.rows:
        if row.parent and (row.cluster, row.parent, "", "") not in rows:
            raise InputError(f"{row.where or found.source}: account '{row.parent}', which "
                             f"'{row.user or row.account}' lies in, is not there")
    return tuple(rows.values())
