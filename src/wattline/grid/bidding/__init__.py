"""Choosing a bid: average power, reserve, and the weights of the queues."""

from wattline.grid.bidding.adaptive import adaptive_bid
from wattline.grid.bidding.closed_form import closed_form_bid
from wattline.grid.bidding.descent import descend
from wattline.grid.bidding.exhaustive import exhaustive_bid
from wattline.grid.bidding.heuristic import capping_heuristic, range_heuristic
from wattline.grid.bidding.problem import BidOutcome, Decision, Problem, Simulate, Trial

__all__ = [
    "BidOutcome",
    "Decision",
    "Problem",
    "Simulate",
    "Trial",
    "adaptive_bid",
    "capping_heuristic",
    "closed_form_bid",
    "descend",
    "exhaustive_bid",
    "range_heuristic",
]
