"""Kernels that run as plain Python read fields of records by their columns: three times as quick.

`table[row].field` makes an object of the record before it reads a field of it, and that was more
than half of the time of plain kernels; `table.field[row]` is the same number in the same memory.
Kernels are written in the first way, which is the natural one and costs nothing where they are
compiled. So where tests run them plain, this is put into the second as a module is imported. What
comes of it is kept by what the sources hold: to rewrite all kernels takes 1.5 s.
"""

from __future__ import annotations

import ast
import hashlib
import marshal
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

KEPT = Path(__file__).parents[2] / ".cache" / "quick-kernels"
DECLARES = b"from wattline.model.kernel import"
KERNELS = {"kernel", "kernel_part", "array_kernel"}


def read_columns() -> None:
    """Rewrite the kernels of modules that are imported from now on, where they run plain."""
    if os.environ.get("WATTLINE_PLAIN", "") not in ("", "0"):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("wattline."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        source = self.get_data(self.path)
        return _kept(source, self.path) if DECLARES in source else super().get_code(fullname)


def _kept(source: bytes, path: str) -> CodeType:
    """The code of a module, from the file of an earlier run where there is one."""
    held = source + path.encode() + sys.version.encode() + Path(__file__).read_bytes()
    file = KEPT / hashlib.sha256(held).hexdigest()
    try:
        return marshal.loads(file.read_bytes())  # type: ignore[no-any-return]
    except (OSError, EOFError, ValueError):
        code: CodeType = compile(by_columns(source.decode()), path, "exec", dont_inherit=True)
    KEPT.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(f".{os.getpid()}")
    fresh.write_bytes(marshal.dumps(code))
    fresh.replace(file)
    return code


def by_columns(source: str) -> ast.Module:
    """A module whose kernels read and write fields of records in their columns."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and KERNELS & set(map(ast.unparse,
                                                                   node.decorator_list)):
            _Columns(node).generic_visit(node)
    return ast.fix_missing_locations(tree)


class _Columns(ast.NodeTransformer):
    """`table[place].field` becomes `table.field[place]`; of a row that has a name, table and place
    are given names, and the row itself where it is handed on."""

    def __init__(self, function: ast.FunctionDef) -> None:
        nodes = list(ast.walk(function))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        fields = [node for node in nodes if isinstance(node, ast.Attribute) and _is_field(node)
                  and isinstance(node.value, ast.Name)]
        of_fields = {id(node.value) for node in fields}
        given = [name for node in nodes if (name := _named_row(node))]
        stored = [name.id for name in names if isinstance(name.ctx, ast.Store)]
        arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
        self._rows = {name.id for name in names if id(name) in of_fields
                      and stored.count(name.id) == given.count(name.id) > 0} - arguments
        self._whole = {name.id for name in names
                       if isinstance(name.ctx, ast.Load) and id(name) not in of_fields}

    def visit_Assign(self, node: ast.Assign) -> Any:
        name = _named_row(node)
        self.generic_visit(node)
        if name not in self._rows:
            return node
        row: Any = node.value
        parts = ast.Tuple([ast.Name(part, ast.Store()) for part in _parts(name)], ast.Store())
        found = ast.Assign([parts], ast.Tuple([row.value, row.slice], ast.Load()))
        return [node, ast.copy_location(found, node)] if name in self._whole else (
            ast.copy_location(found, node))

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        row = node.value
        if not _is_field(node):
            return node
        table: ast.expr
        place: ast.expr
        if isinstance(row, ast.Subscript) and _is_one(row):
            table, place = row.value, row.slice
        elif isinstance(row, ast.Name) and row.id in self._rows:
            table, place = (ast.Name(part, ast.Load()) for part in _parts(row.id))
        else:
            return node
        column = ast.Attribute(table, node.attr, ast.Load())
        return ast.copy_location(ast.Subscript(column, place, node.ctx), node)


def _named_row(node: ast.AST) -> str:
    """The name that a statement gives to an entry of an array, if that is what it does."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as row) if _is_one(row):
            return name
    return ""


def _is_one(entry: ast.Subscript) -> bool:
    return not isinstance(entry.slice, ast.Slice | ast.Tuple)


def _is_field(node: ast.Attribute) -> bool:
    """Not what arrays have too."""
    return not hasattr(np.ndarray, node.attr)


def _parts(name: str) -> tuple[str, str]:
    return f"_{name}_table", f"_{name}_place"
