"""Writes a net that is laid out as SVG, with a legend of its arcs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from wattline.petri.draw import MARGIN, TITLE_H, Line, Shape, Sheet
from wattline.petri.labels import Label, Point, text_half

_INK = {"guard": "#8a1f1f", "note": "#555", "tag": "#1b4f9c", "colour": "#555",
        "value": "#1f6b1f", "arc": "#222"}
_LINES = {"flow": "", "test": ' stroke-dasharray="5 3"', "inhibitor": ""}
LEGEND = "arrow: takes or puts tokens; dashed: needs one and leaves it; circle: needs none"
LEGEND_H = 26.0


def svg(sheets: Sequence[Sheet], title: str) -> str:
    """One drawing with the sheets below each other."""
    width = max([sheet.size[0] for sheet in sheets] + [_wide(title, 15), _wide(LEGEND, 11)])
    height = sum(sheet.size[1] for sheet in sheets) + TITLE_H + LEGEND_H
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans, Arial, sans-serif" '
        'font-size="12">',
        f"<title>{escape(title)}</title>",
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        'markerHeight="8" orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z" '
        'fill="#333"/></marker><marker id="none" viewBox="0 0 10 10" refX="9" refY="5" '
        'markerWidth="9" markerHeight="9" orient="auto"><circle cx="5" cy="5" r="4" fill="white" '
        'stroke="#333"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
        _text((MARGIN, 28), title, anchor="start", size=15, weight="bold"),
    ]
    y = TITLE_H
    for sheet in sheets:
        parts.append(f'<g id="{_anchor(sheet.name)}" transform="translate(0 {y:.0f})">')
        parts.extend(_draw_sheet(sheet))
        parts.append("</g>")
        y += sheet.size[1]
    parts.append(_text((MARGIN, y + 14), LEGEND, anchor="start", size=11, colour="#555"))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _wide(text: str, size: int) -> float:
    return 2 * text_half(text, size)[0] + 2 * MARGIN


def _draw_sheet(sheet: Sheet) -> Iterable[str]:
    yield (f'<rect x="{MARGIN / 4}" y="0" width="{sheet.size[0] - MARGIN / 2}" '
           f'height="{sheet.size[1] - MARGIN / 4}" rx="8" fill="#fbfbfb" stroke="#ccc"/>')
    yield _text((MARGIN, 26), sheet.name, anchor="start", size=14, weight="bold")
    yield f'<g transform="translate({MARGIN} {TITLE_H})">'
    for line in sheet.lines:
        yield _draw_line(line)
    for shape in sheet.shapes:
        yield from (_draw_place(shape) if shape.kind == "place" else _draw_box(shape))
    for label in sheet.labels:
        yield from _draw_label(label)
    yield "</g>"


def _draw_line(line: Line) -> str:
    heads = (' marker-start="url(#head)"' if line.head_at_start else "") + (
        ' marker-end="url(#head)"' if line.head_at_end else "")
    if line.kind == "inhibitor":
        heads = ' marker-end="url(#none)"'
    return (f'<line class="{line.kind}" x1="{line.start[0]:.1f}" y1="{line.start[1]:.1f}" '
            f'x2="{line.end[0]:.1f}" y2="{line.end[1]:.1f}" stroke="#333"{_LINES[line.kind]}'
            f"{heads}/>")


def _draw_label(label: Label) -> Iterable[str]:
    lines = label.text.split("\n")
    for number, line in enumerate(lines):
        y = label.at[1] + (label.size + 2.0) * (number - (len(lines) - 1) / 2)
        yield _text((label.at[0], y + 0.35 * label.size), line, size=label.size,
                    colour=_INK[label.style],
                    style="italic" if label.style == "colour" else "normal")


def _draw_place(shape: Shape) -> Iterable[str]:
    x, y = shape.at
    yield (f'<ellipse cx="{x}" cy="{y}" rx="{shape.half[0]}" ry="{shape.half[1]}" '
           f'fill="#eaf6ea" stroke="#2d7d2d" stroke-width="1.6"/>')
    yield _text((x, y + 4), shape.name)
    if shape.tokens:
        cx, cy = x + shape.half[0] - 8, y - shape.half[1] + 2
        label = str(shape.tokens)
        yield (f'<rect x="{cx - 5 - 3.6 * len(label)}" y="{cy - 9}" width="{10 + 7.2 * len(label)}"'
               f' height="18" rx="9" fill="#6fce6f" stroke="#2d7d2d"/>')
        yield _text((cx, cy + 4), label, size=11, weight="bold")


def _draw_box(shape: Shape) -> Iterable[str]:
    (x, y), (w, h) = shape.at, shape.half
    module = shape.kind == "module"
    if module:
        yield f'<a href="#{_anchor(shape.page)}">'
        yield _rect(shape.at, (w, h), "#1b4f9c", "white")
        w, h = w - 4, h - 4
    yield _rect(shape.at, (w, h), "#1b4f9c" if module else "#333",
                "#e8f0fc" if module else "#fff7e0")
    yield _text((x, y if module else y + 4), shape.name, weight="bold" if module else "normal")
    if module:
        yield _text((x, y + 15), f"subpage {shape.page}", size=9, colour="#1b4f9c")
        yield "</a>"


def _rect(at: Point, half: Point, stroke: str, fill: str) -> str:
    return (f'<rect x="{at[0] - half[0]:.1f}" y="{at[1] - half[1]:.1f}" width="{2 * half[0]:.1f}" '
            f'height="{2 * half[1]:.1f}" fill="{fill}" stroke="{stroke}" stroke-width="1.6"/>')


def _text(at: Point, text: str, *, anchor: str = "middle", size: int = 12, colour: str = "#111",
          weight: str = "normal", style: str = "normal") -> str:
    extra = "" if weight == "normal" else f' font-weight="{weight}"'
    extra += "" if style == "normal" else f' font-style="{style}"'
    return (f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{colour}"{extra}>{escape(text)}</text>')


def _anchor(name: str) -> str:
    return "page-" + "".join(c if c.isalnum() else "-" for c in name.lower())
