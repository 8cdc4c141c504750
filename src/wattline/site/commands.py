"""Scripts of `sacctmgr` commands: the associations that are there once they have been run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from wattline.model.errors import InputError
from wattline.site.associations import (
    NO_SETTINGS,
    ROOT,
    Association,
    Associations,
    shares_of,
)
from wattline.site.limits import bare_words, settings_of, unknown_among, written_of
from wattline.site.lines import refuse_name

_VERBS = {"add": "add", "create": "add", "modify": "modify", "update": "modify",
          "delete": "remove", "remove": "remove"}
_THINGS = {"account": "account", "accounts": "account", "user": "user", "users": "user",
           "cluster": "cluster", "clusters": "cluster"}
_SHORT = {"names": "name", "accounts": "account", "clusters": "cluster", "fairshare": "shares",
          "shares": "shares", "defaultaccounts": "defaultaccount", "partitions": "partition",
          "acct": "account", "users": "user"}
_OTHER = NO_SETTINGS | {"name", "names", "accounts", "acct", "clusters", "users",
                        "defaultaccounts", "partitions", "federation", "format"}
"""Keys of a command that are no limits."""
_A = {"account": "an account", "user": "a user", "cluster": "a cluster"}
_LOOKS = ("list", "show", "dump", "archive", "quit", "exit")


@dataclass
class _Book:
    """What the commands so far have left; `""` stands for a cluster that no command names."""

    clusters: list[str] = field(default_factory=list)
    rows: dict[tuple[str, str, str, str], Association] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def named(self, given: Sequence[str]) -> Sequence[str]:
        return given or self.clusters or [""]

    def put(self, row: Association, where: str) -> None:
        """Add an association; sacctmgr leaves one alone that is there already."""
        key = (row.cluster, row.account, row.user, row.partition)
        if key in self.rows:
            who = f"user '{row.user}' in account" if row.user else "account"
            self.unknown.append(f"{where}: adds {who} '{row.account}', which is there already: "
                                "changes nothing")
        self.rows.setdefault(key, row)


def associations_of(lines: Iterable[tuple[int, str]], source: str) -> Associations:
    """The associations that a script leaves; what concerns no association is counted."""
    book = _Book()
    passed: dict[str, int] = {}
    for number, line in lines:
        where = f"{source}:{number}"
        words = [word for word in _words(line, where) if word != "sacctmgr" and word[:1] != "-"]
        verb = _VERBS.get(words[0].lower()) if words else None
        thing = _THINGS.get(words[1].lower()) if len(words) > 1 else None
        if verb is None or thing is None:
            what = " ".join(words[:2])
            passed[what] = passed.get(what, 0) + 1
            if thing is not None and words[0].lower() not in _LOOKS:
                book.unknown.append(f"{where}: '{what[:40]}' is no command of sacctmgr's")
            continue
        _run(book, verb, thing, words[2:], where)
    if not any(row.user or row.account != ROOT for row in book.rows.values()):
        raise InputError(f"{source}: no account or user is in it; it must be a table, a dump or a "
                         "script of sacctmgr")
    said = ", ".join(f"{count} x '{what}'" for what, count in passed.items())
    remarks = (f"{source}: commands that change no association were passed over: {said}",)
    return Associations(source, tuple(book.rows.values()), remarks if passed else (),
                        tuple(book.unknown))


def _words(line: str, where: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError as error:
        raise InputError(f"{where}: cannot be taken apart: {str(error).lower()}") from None


def _run(book: _Book, verb: str, thing: str, words: Sequence[str], where: str) -> None:
    at = next((at for at, word in enumerate(words) if word.lower() == "set"), len(words))
    chosen, changes = _pairs(words[:at], thing), _pairs(words[at + 1:])
    given = words if verb == "add" else words[at + 1:]
    settings = [(key, value) for key, _, value in (word.partition("=") for word in given)]
    written = [key for key, value in settings if value]
    names = chosen.get("name", [])
    asked = {key: value for key, equals, value in (word.partition("=") for word in words) if equals}
    book.unknown += [f"{where}: {key}={asked[key]} of {thing} '{', '.join(names)}'"
                     for key in unknown_among(asked, _OTHER)]
    if verb == "modify" and at == len(words):
        book.unknown.append(f"{where}: modifies {_A[thing]} without 'set', which changes nothing")
        return
    if verb == "add":
        if not names:
            raise InputError(f"{where}: adds {_A[thing]} without a name")
        if (bare := bare_words(words)):
            book.unknown.append(f"{where}: '{bare[0]}' has no value, and counts as the name of a "
                                f"further {thing}")
        for name in names:
            refuse_name(name, where)
        adding = _add_clusters if thing == "cluster" else _add_accounts
        before = set(book.rows)
        (_add_users if thing == "user" else adding)(book, names, chosen, where)
        for key in set(book.rows) - before:
            book.rows[key] = replace(book.rows[key], settings=settings_of(settings), where=where,
                                     written=written_of(written, where))
        return
    if names and not any(_meant(row, verb, thing, chosen) for row in book.rows.values()):
        book.unknown.append(f"{where}: {thing} '{', '.join(names)}', which no line before adds")
    for key, row in list(book.rows.items()):
        if not _meant(row, verb, thing, chosen):
            continue
        if verb == "modify":
            book.rows[key] = replace(_changed(row, changes, where),
                                     settings=settings_of(settings, row.settings),
                                     written=written_of(written, where, row.written))
        else:
            del book.rows[key]
    if thing == "cluster" and verb == "remove":
        book.clusters = [each for each in book.clusters if each not in names]


def _pairs(words: Iterable[str], thing: str = "") -> dict[str, list[str]]:
    """Values by key, in small letters and by one name; a word without a key is a name.

    What the command is about may be named by its own word: `add account account=physics`.
    """
    found: dict[str, list[str]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        small = key.lower().rstrip("+-")
        if not equals and small == "where":
            continue
        key, value = (_SHORT.get(small, small), value) if equals else ("name", word)
        key = "name" if thing and key == thing else key
        found.setdefault(key, []).extend(part for part in value.split(",") if part)
    return found


def _add_clusters(book: _Book, names: Sequence[str], given: dict[str, list[str]],
                  where: str) -> None:
    for name in names:
        book.clusters.append(name)
        book.put(Association(name, ROOT, shares=_shares(given, where)), where)


def _add_accounts(book: _Book, names: Sequence[str], given: dict[str, list[str]],
                  where: str) -> None:
    for cluster in book.named(given.get("cluster", [])):
        for name in names:
            book.put(Association(cluster, name, parent=given.get("parent", [ROOT])[0],
                                 shares=_shares(given, where)), where)


def _add_users(book: _Book, names: Sequence[str], given: dict[str, list[str]],
               where: str) -> None:
    default = given.get("defaultaccount", [])
    accounts = [*given.get("account", []), *default[:1]]
    if not accounts:
        raise InputError(f"{where}: user '{', '.join(names)}' is added to no account")
    for cluster in book.named(given.get("cluster", [])):
        for name in names:
            known = any(row.user == name and row.cluster == cluster and row.default
                        for row in book.rows.values())
            first = default[0] if default else "" if known else accounts[0]
            for account in dict.fromkeys(accounts):
                for partition in given.get("partition") or [""]:
                    book.put(Association(cluster, account, name, partition, account,
                                         _shares(given, where), account == first), where)


def _meant(row: Association, verb: str, thing: str, given: dict[str, list[str]]) -> bool:
    """Whether a `modify` or `remove` is about this row; what is removed goes with its users."""
    fields = {"account": row.account, "cluster": row.cluster, "partition": row.partition}
    fields["name"] = row.user if thing == "user" else fields[thing]
    if not all(value in given[key] for key, value in fields.items() if given.get(key)):
        return False
    if thing == "user" or verb == "remove":
        return bool(row.user) or thing != "user"
    return not row.user and (thing == "account" or row.account == ROOT)


def _changed(row: Association, changes: dict[str, list[str]], where: str) -> Association:
    default = changes.get("defaultaccount", [""])[0]
    return replace(
        row,
        shares=_shares(changes, where) if "shares" in changes else row.shares,
        parent=changes["parent"][0] if "parent" in changes and not row.user else row.parent,
        default=row.account == default if default else row.default)


def _shares(given: dict[str, list[str]], where: str) -> int | None:
    return shares_of(given.get("shares", [""])[0], where)
