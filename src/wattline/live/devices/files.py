"""Files of the kernel: one number each."""

from __future__ import annotations

from pathlib import Path


def number_in(file: Path) -> float:
    return float(file.read_text(encoding="ascii"))


def text_in(file: Path) -> str:
    return file.read_text(encoding="ascii").strip()


def write_number(file: Path, value: float) -> None:
    file.write_text(f"{round(value)}\n", encoding="ascii")


def reason_of(error: Exception) -> str:
    """Why a file could not be read or written, in a few words."""
    if isinstance(error, PermissionError):
        return "only root may do that"
    return str(error)
