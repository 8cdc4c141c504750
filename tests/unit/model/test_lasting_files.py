"""Files that must survive a power failure."""

from __future__ import annotations

from wattline.model import files


def test_what_must_last_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch) -> None:
    """The file is synced under its draft's name, then the folder that names it."""
    target = tmp_path / "kept"
    synced = []
    monkeypatch.setattr(files, "_sync", lambda path: synced.append((path, target.exists())))
    with files.replacing(target, lasting=True) as draft:
        draft.write_text("whole")
    assert synced == [(draft, False), (tmp_path, True)]
    monkeypatch.undo()
    with files.replacing(target, lasting=True) as draft:
        draft.write_text("again")
    assert target.read_text() == "again"
