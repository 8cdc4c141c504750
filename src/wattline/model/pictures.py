"""Writing a picture to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wattline.model.errors import InputError
from wattline.model.files import possible_path, replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png", ".pdf")


def check_picture(path: Path) -> None:
    """Refuse a name that is no picture's, before the work is done that it would show."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"'{path}' is not a picture; end its name in .svg, .png or .pdf")


def save_picture(figure: Figure, path: Path) -> Path:
    """Write a picture; the ending of the name (.svg, .png, .pdf) says in which form."""
    check_picture(path)
    try:
        possible_path(path)
        path.parent.mkdir(exist_ok=True)  # one folder, like runs/; a path that is mistyped has more
        with replacing(path) as draft:
            figure.savefig(draft, dpi=110, format=path.suffix[1:].lower())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    return path
