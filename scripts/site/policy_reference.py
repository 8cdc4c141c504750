"""Every policy along each axis with its parameters, from the registry."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from wattline.policies.listing import describe_policy
from wattline.policies.registry import declared

HEAD = "| parameter | takes | default |\n|---|---|---|\n"


def reference() -> str:
    """The policies by axis, as Markdown."""
    parts = []
    for axis, named in declared().items():
        parts.append(f"## {axis}")
        for name in named:
            (about,) = describe_policy(f"{axis}.{name}")
            parts += [f"### {axis}: {name}", *described(about)]
    return "\n\n".join(parts)


def described(about: dict[str, Any]) -> list[str]:
    """Return what a policy is, needs and takes, and what it does not go with."""
    said = [about["summary"]]
    if about["needs"]:
        said.append(f"Needs {about['needs']}.")
    if about["parameters"]:
        said.append(HEAD + "\n".join(map(row, about["parameters"])))
    if about["refused"]:
        said.append("\n".join(["Does not go with:", "", *_refusals(about)]))
    return said


def row(parameter: dict[str, Any]) -> str:
    """One parameter: what it takes, and what holds without it."""
    kind = parameter["kind"].replace("choice", "one of these words")
    takes = [kind, parameter["unit"],
             parameter["range"] if parameter["range"] != "any" else None]
    default = "needed" if parameter["needed"] else _default(parameter)
    said = ", ".join(part for part in takes if part)
    return f"| `{parameter['name']}` | {_signs(said)} | {default} |"


def _signs(text: str) -> str:
    return text.replace(">=", "≥").replace("<=", "≤").replace("|", "\\|")


def _default(parameter: dict[str, Any]) -> str:
    if parameter["otherwise"]:
        return f"`{parameter['otherwise']}`"
    return "none" if parameter["default"] is None else f"`{parameter['default']}`"


def _refusals(about: dict[str, Any]) -> list[str]:
    """A line per reason: many choices are refused for the same one."""
    others = [(pair["reason"], _other(pair, about["axis"])) for pair in about["refused"]]
    others.sort()
    return [f"- {', '.join(name for _, name in rows)}: {reason}"
            for reason, rows in groupby(others, key=lambda pair: pair[0])]


def _other(pair: dict[str, str], axis: str) -> str:
    if pair["axis"] == axis:
        return f"{pair['other_axis']} `{pair['other']}`"
    return f"{pair['axis']} `{pair['name']}`"
