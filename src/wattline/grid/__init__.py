"""Demand response: what a regulation contract asks, pays and allows, and how to choose a bid."""
