"""Lists of licences as `Licenses=` of slurm.conf and `--licenses` of sbatch have them."""

from __future__ import annotations

from wattline.site.sbatch import count


def licences_of(text: str, where: str) -> dict[str, int]:
    """Numbers by name. `,` and `;` part them, and the numbers of one that stands twice are added up
    (as tried on Slurm 22.05.8)."""
    found: dict[str, int] = {}
    for name, number in _parts(text):
        found[name] = found.get(name, 0) + count(number or "1", f"licence {name}", where)
    return found


def licences_twice(text: str) -> list[str]:
    """The names that stand more than once."""
    names = [name for name, _ in _parts(text)]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def _parts(text: str) -> list[tuple[str, str]]:
    listed = filter(None, (part.strip() for part in text.replace(";", ",").split(",")))
    return [(name, number) for name, _, number in (
        part.replace("=", ":").partition(":") for part in listed)]
