"""Of which class nodes are, by what a site wrote down of them."""

from __future__ import annotations

from pathlib import Path

from wattline.model.errors import InputError

KEY = "node_class"


def classes_of_nodes(views: str | Path) -> dict[str, str]:
    """By node, from all views of a file that have the key; two must not contradict each other."""
    from wattline.model.views.build import read_views  # it loads the compiler

    found: dict[str, str] = {}
    for view in read_views(Path(views)).values():
        if KEY not in view.texts:
            continue
        for node in view.tree.names:
            told = view.get(node, KEY)
            if told and found.setdefault(node, str(told)) != str(told):
                raise InputError(f"{views}: node '{node}' is of class '{found[node]}' in one view "
                                 f"and of '{told}' in '{view.name}'; it must have one")
    if not found:
        raise InputError(f"{views}: no view says of which class its nodes are; write "
                         f'{{ name = "{KEY}", type = "text" }} among its keys, and {KEY} with its '
                         "nodes")
    return found
