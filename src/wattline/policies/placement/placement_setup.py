"""Declarations of the placements without parameters."""

from __future__ import annotations

from wattline.policies.declaration import Declaration, of_numbers

COUNTED = Declaration("placement", "counted", "Units are counted, not chosen.",
                      of_numbers("placement.counted", "Counted"))
FIRST_FIT = Declaration("placement", "first-fit", "The free nodes with the lowest numbers.",
                        of_numbers("placement.first_fit", "FirstFit"))
