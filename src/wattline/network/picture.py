"""Pictures of a network: routers on circles of groups, links coloured by what they carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.model.units import counted
from wattline.network.topology.base import LinkKind, Topology

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL_LINKS = 4000
"""With more links than this, only the links between groups are drawn, counted together."""
_COLOURS = {LinkKind.LOCAL: "#7a9a6b", LinkKind.ROW: "#7a9a6b", LinkKind.COLUMN: "#8d8d8d",
            LinkKind.GLOBAL: "#4a7dbd"}


@dataclass(frozen=True, eq=False)
class Sketch:
    """What is drawn: routers, lines between them, and a value for each line."""

    router_xy: FloatArray
    label_xy: FloatArray
    lines: FloatArray
    """A row per line: x and y of its two ends."""
    line_kind: IntArray
    line_value: FloatArray
    """The largest value of the links that the line stands for."""
    together: bool
    """Whether links between two groups are drawn as one line."""


def sketch(topology: Topology, link_value: FloatArray | None = None) -> Sketch:
    """Lay out a network; `link_value` has one value a directed link, zero where it is missing."""
    value = np.zeros(topology.links) if link_value is None else link_value[:topology.links]
    groups, around_ring = topology.groups, topology.groups_with_nodes
    turn = np.full(groups, np.pi / 2)
    turn[around_ring] += 2 * np.pi * np.arange(len(around_ring)) / len(around_ring)
    # Switches at the top of a tree, which have no nodes, stand in the middle.
    centre = np.zeros((groups, 2))
    centre[around_ring] = np.stack((np.cos(turn), np.sin(turn)), axis=1)[around_ring]
    inner = min(0.42, 2.4 / max(groups, 3))
    router_xy = np.zeros((topology.routers, 2))
    for group in range(groups):
        members = np.flatnonzero(topology.router_group == group)
        around = 2 * np.pi * np.arange(len(members)) / len(members) + turn[group] + np.pi
        ring = np.stack((np.cos(around), np.sin(around)), axis=1)
        columns = _columns(topology)
        if columns > 1 and len(members) % columns == 0:
            row, column = np.divmod(np.arange(len(members)), columns)
            rows = max(1, len(members) // columns - 1)
            ring = np.stack((1.8 * column / (columns - 1) - 0.9, 0.7 - 1.4 * row / rows), axis=1)
        router_xy[members] = centre[group] + (inner * ring if len(members) > 1 else 0.0)
    together = topology.links > ALL_LINKS
    if together:
        ends = topology.router_group[np.stack((topology.link_from, topology.link_to), axis=1)]
        places = centre
    else:
        ends = np.stack((topology.link_from, topology.link_to), axis=1)
        places = router_xy
    ends = np.sort(ends, axis=1)
    apart = ends[:, 0] != ends[:, 1]
    code = ends[apart, 0] * (int(ends.max()) + 1) + ends[apart, 1]
    unique, first, row = np.unique(code, return_index=True, return_inverse=True)
    strongest = np.zeros(len(unique))
    np.maximum.at(strongest, row, value[apart])
    pairs = ends[apart][first]
    lines = np.concatenate((places[pairs[:, 0]], places[pairs[:, 1]]), axis=1)
    kind = topology.link_kind[apart][first]
    label_xy = centre * (1.0 + 1.35 * inner)
    if _columns(topology):
        label_xy = centre + np.array([0.0, 0.8 * inner])
    return Sketch(router_xy, label_xy, lines, kind, strongest, together)


def _columns(topology: Topology) -> int:
    """Routers in a row of a group that is drawn as a grid, else 0.

    Where every link is drawn, a ring shows them better: those of a row would lie on one line.
    """
    if topology.kind != "aries" or topology.links <= ALL_LINKS:
        return 0
    return 1 + int(np.sum((topology.link_from == 0) & (topology.link_kind == LinkKind.ROW)))


def grid_lines(topology: Topology, router_xy: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows and columns of all groups, each as one line from its first router to its last."""
    columns = _columns(topology)
    lines: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for group in range(topology.groups if columns > 1 else 0):
        places = router_xy[topology.router_group == group]
        if len(places) % columns == 0:
            grid = places.reshape(-1, columns, 2)
            lines[0].extend(np.concatenate((row[0], row[-1])) for row in grid)
            lines[1].extend(np.concatenate((grid[0, c], grid[-1, c])) for c in range(columns))
    rows, across = (np.array(found).reshape(-1, 4) for found in lines)
    return rows, across


def draw_network(topology: Topology) -> Figure:
    """Groups, routers and links."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 8), layout="constrained")
    axes = figure.add_subplot()
    found = sketch(topology)
    order = np.argsort(found.line_kind == LinkKind.GLOBAL)[::-1]
    colours = [_COLOURS[LinkKind(int(found.line_kind[i]))] for i in order]
    _lines(axes, found.lines[order], colours, 0.9 if len(order) < 800 else 0.4)
    _routers(axes, topology, found)
    shown = {LinkKind(int(kind)) for kind in found.line_kind}
    if found.together:
        shown = {LinkKind.GLOBAL}
        for kind, lines in zip((LinkKind.ROW, LinkKind.COLUMN),
                               grid_lines(topology, found.router_xy), strict=True):
            if len(lines):
                _lines(axes, lines, [_COLOURS[kind]] * len(lines), 0.8)
                shown.add(kind)
    _kinds(axes, shown)
    note = "links between two groups are drawn as one; " \
           "a line in a group joins its routers all to all" if found.together else ""
    groups = f"{counted(len(topology.groups_with_nodes), 'group')}, " \
        if "groups" in topology.levels else ""
    axes.set_title(f"{topology.name}: {groups}{topology.routers:,} routers, "
                   f"{topology.nodes:,} nodes, {topology.cables:,} cables\n{note}", fontsize=10)
    return figure


def draw_placement(topology: Topology, placed: Sequence[tuple[str, IntArray]],
                   drain_s: FloatArray) -> Figure:
    """Where the jobs went, and how long each link needs for what it carries."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 7.5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
    found = sketch(topology, drain_s * 1e6)
    order = np.argsort(found.line_value)
    top = max(float(found.line_value.max(initial=0.0)), 1e-12)
    paint = colormaps["inferno_r"]
    colours = [paint(0.08 + 0.92 * value / top) if value > 0 else (0.9, 0.9, 0.9, 1.0)
               for value in found.line_value[order]]
    widths = 0.5 + 2.5 * found.line_value[order] / top
    _lines(left, found.lines[order], colours, widths)
    _routers(left, topology, found)
    left.set_title("Time that each link is busy with one exchange of all jobs", fontsize=10)
    _scale(figure, left, top)
    _node_map(right, topology, placed)
    return figure


def _kinds(axes: Any, kinds: set[LinkKind]) -> None:
    """A legend: which colour is which kind of link."""
    from matplotlib.lines import Line2D

    axes.legend(handles=[Line2D([], [], color=_COLOURS[kind], label=f"{kind.name.lower()} links")
                         for kind in sorted(kinds)],
                loc="lower right", fontsize=8, frameon=False)


def _scale(figure: Figure, axes: Any, top: float) -> None:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = figure.colorbar(ScalarMappable(Normalize(0, top), colormaps["inferno_r"]), ax=axes,
                          shrink=0.6, location="left")
    bar.set_label("microseconds")


def _lines(axes: Any, lines: FloatArray, colours: Sequence[Any], widths: Any) -> None:
    from matplotlib.collections import LineCollection

    segments = lines.reshape(-1, 2, 2)
    axes.add_collection(LineCollection(list(segments), colors=colours, linewidths=widths))


def _routers(axes: Any, topology: Topology, found: Sketch) -> None:
    size = 14 if topology.routers < 400 else 2
    axes.scatter(*found.router_xy.T, s=size, color="#222222", zorder=3)
    if topology.groups <= 40:
        for group in topology.groups_with_nodes.tolist():
            axes.text(*found.label_xy[group], f"g{group}", ha="center", va="center", fontsize=8)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.margins(0.04)
    axes.set_axis_off()


def _node_map(axes: Any, topology: Topology, placed: Sequence[tuple[str, IntArray]]) -> None:
    """A row per group, a cell per node, a colour per job."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    group = topology.node_group
    rows = int(group.max()) + 1
    first = np.searchsorted(group, np.arange(rows))
    width = int(np.bincount(group).max())
    cells = np.full((rows, width), np.nan)
    cells[group, np.arange(topology.nodes) - first[group]] = 0
    for number, (_, nodes) in enumerate(placed, start=1):
        cells[group[nodes], nodes - first[group[nodes]]] = number
    hues = colormaps["tab20"]
    palette = ListedColormap(["#eeeeee", *(hues(i % 20) for i in range(len(placed)))])
    axes.imshow(np.ma.masked_invalid(cells), cmap=palette, vmin=-0.5, vmax=len(placed) + 0.5,
                aspect="auto", interpolation="nearest")
    per_router = int(np.bincount(topology.node_router).max())
    if width <= 128:
        for edge in range(per_router, width, per_router):
            axes.axvline(edge - 0.5, color="white", linewidth=1.2)
    axes.set_xlabel("node of the group (white lines separate routers)")
    axes.set_ylabel("group")
    axes.set_title("Nodes by job (grey: free)", fontsize=10)
    if len(placed) <= 20:
        from matplotlib.patches import Patch

        axes.legend(handles=[Patch(color=hues(i % 20), label=name)
                             for i, (name, _) in enumerate(placed)],
                    loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)
