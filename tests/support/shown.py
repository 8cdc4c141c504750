"""Contents of a page: its blocks of code, and commands with the lines that stand below them."""

from __future__ import annotations

import re


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a language; a fence that ends one block does not begin the next."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [text for name, text in found if name == language]


def shown(page: str) -> dict[str, list[str]]:
    """Every `wattline ...` line of the shell's blocks, the last of each with the output below it.

    Commands stand in blocks of their own, so that what is copied can be pasted; the block of text
    that follows has what the last of them prints.
    """
    found: dict[str, list[str]] = {}
    pair = r"^```sh\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?"
    for commands, output in re.findall(pair, page, re.DOTALL | re.MULTILINE):
        typed = commands.replace("\\\n", " ").splitlines()
        found |= {command: [] for command in typed}
        found[typed[-1]] = output.splitlines()
    return {command: lines for command, lines in found.items() if command.startswith("wattline")}


def commands(page: str) -> list[str]:
    """Every line of any block that begins with `wattline`, joined where it goes on below."""
    found = re.findall(r"^```\w*\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    lines = "\n".join(found).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("wattline ")]


def in_tables(page: str) -> list[str]:
    """Commands in the tables of a page; the rest of the text names commands in passing."""
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    return re.findall(r"`(wattline [^`]*)`", "\n".join(rows))


def missing(lines: list[str], output: str) -> list[str]:
    """Lines that were not printed; `...` stands for any, and seconds of the engine differ."""
    printed = [_timeless(line) for line in output.splitlines()]
    return [line for line in lines if line != "..." and _timeless(line) not in printed]


def _timeless(line: str) -> str:
    """A line without the seconds that the engine took, which differ from run to run."""
    return re.sub(r" in [\d.e-]+ s$", " in ? s", line)
