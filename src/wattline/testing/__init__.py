"""Tests to run against one's own policies and sensors."""

from wattline.testing.choice_contract import ChoiceContract
from wattline.testing.clauses import broken_clauses
from wattline.testing.composing import composed
from wattline.testing.policy_contract import PolicyContract
from wattline.testing.sensor_contract import SensorContract

__all__ = ["ChoiceContract", "PolicyContract", "SensorContract", "broken_clauses", "composed"]
