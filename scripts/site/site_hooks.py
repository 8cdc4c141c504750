"""Hooks that mkdocs calls while it builds the site: pages from beside docs/, and the generated
reference.

The reference is made when the site is built and is not kept in the repository: so it cannot be
out of date, and a new option needs no second change. A page says where it goes with a line
`<!-- generated: NAME -->`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# mkdocs looks for modules beside this one only while it reads it.
import command_reference
import field_reference
import policy_reference
import python_reference
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
BESIDE = ("CONTRIBUTING.md", "CHANGELOG.md", "examples")
"""Pages and files beside docs/ that belong to the site."""
PARTS = {
    "commands": command_reference.reference,
    "policies": policy_reference.reference,
    "python": python_reference.reference,
}
MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def on_files(files: Files, *, config: Any) -> Files:
    """Add the files beside docs/, at the places that they have beside it."""
    for name in BESIDE:
        place = ROOT / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file():
                files.append(_file(path, config))
    return files


def _file(path: Path, config: Any) -> File:
    where = path.relative_to(ROOT).as_posix()
    if path.suffix != ".md":
        return File.generated(config, where, abs_src_path=str(path))
    return File.generated(config, where, content=path.read_text(encoding="utf-8"))


def on_post_build(*, config: Any) -> None:
    """Put the search index into a script too: a page read from the disk can fetch no JSON."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    if index.is_file():
        index.with_suffix(".js").write_text(f"var __index = {index.read_text(encoding='utf-8')}",
                                            encoding="utf-8")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Put the generated parts in, and let links lead to where the site has their pages."""
    if page.file.src_uri == "scenario.md":
        markdown = field_reference.with_kinds(markdown)
    markdown = MARK.sub(lambda found: PARTS[found[1]](), markdown)
    if page.file.src_uri in BESIDE:
        return markdown.replace("](docs/", "](")
    depth = page.file.src_uri.count("/")
    return re.sub(rf"\]\((?:\.\./){{{depth + 1}}}", "](" + "../" * depth, markdown)
