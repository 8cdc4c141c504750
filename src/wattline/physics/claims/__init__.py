"""Claims: what an application is known to need, by class of node and setting.

See docs/claims.md.
"""

from wattline.physics.claims.book import ClaimBook, ClaimVerification, Measured
from wattline.physics.claims.claim import Claim, ClaimSetting
from wattline.physics.claims.files import npb_claims, read_claims, read_runs, write_claims
from wattline.physics.claims.objective import ChosenClaim, Objective

__all__ = [
           "ChosenClaim",
           "Claim",
           "ClaimBook",
           "ClaimSetting",
           "ClaimVerification",
           "Measured",
           "Objective",
           "npb_claims",
           "read_claims",
           "read_runs",
           "write_claims",
]
