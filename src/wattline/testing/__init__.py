"""Tests to run against one's own policies and sensors."""

from wattline.testing.policy_contract import PolicyContract
from wattline.testing.sensor_contract import SensorContract

__all__ = ["PolicyContract", "SensorContract"]
