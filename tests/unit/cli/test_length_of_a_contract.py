"""The length of a contract is said as other durations are."""

from __future__ import annotations

import pytest

from wattline.cli.regulate import length_words


@pytest.mark.parametrize(("judged_s", "warmup_s", "said"), [
    (120.0, 0.0, "00:02:00 long"),
    (3600.0, 1200.0, "01:00:00 long after 00:20:00 of warm-up"),
])
def test_it_is_printed_in_hours_minutes_and_seconds(
    judged_s: float, warmup_s: float, said: str
) -> None:
    assert length_words(judged_s, warmup_s) == said
