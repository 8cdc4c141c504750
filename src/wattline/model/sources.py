"""Digests of sources: results of others are not results of these."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

KINDS = (".py", ".toml", ".csv", ".json")


@cache
def package_digest() -> str:
    """Of all modules of this package and of the data that lies beside them."""
    home = Path(__file__).resolve().parent.parent
    return _digest(home, home.rglob("*"))


@cache
def plug_in_digest(module: str) -> str:
    """Of the package, or the single file, that an installed module belongs to.

    Nothing where its sources cannot be seen. It is found, not imported; a process that has loaded
    it goes on with what it loaded, so it is read once.
    """
    top = module.partition(".")[0]
    spec = PathFinder.find_spec(top, sys.path)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return ""
    file = Path(spec.origin).resolve()
    return _digest(file.parent, file.parent.rglob("*") if file.name == "__init__.py" else [file])


def imported_files(file: str | Path) -> list[Path]:
    """A user's own file of code, and what it imports from its folder, and what that imports."""
    home = Path(file).parent
    found: list[Path] = []
    waiting = [Path(file)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.append(path)
            for name in _imported_names(path):
                folder = home / name
                waiting += [each for each in (home / f"{name}.py", *folder.rglob("*.py"))
                            if each.is_file()]
    return sorted(found)


def _imported_names(path: Path) -> set[str]:
    """Modules that a file imports, as far as their first dot; none of what is not Python."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    said = [each.name for node in ast.walk(tree) if isinstance(node, ast.Import)
            for each in node.names]
    said += [node.module for node in ast.walk(tree)
             if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in said}


def _digest(home: Path, paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        if path.suffix in KINDS and path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(home)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
