"""Tests to run against one's own policies, sensors and actuators: subclass, and run pytest.

>>> import wattline as wl
>>> from wattline.testing import PolicyContract
>>> class Patient:
...     def decide(self, view):
...         if not view.running and view.queue:
...             yield wl.Start(view.queue[0].job)
>>> class TestPatient(PolicyContract):
...     def make_policy(self):
...         return Patient()
>>> TestPatient().test_the_same_input_gives_the_same_actions()

>>> from wattline.live.sensor import Channel, Quality, Reading
>>> from wattline.testing import SensorContract
>>> class Lamp:
...     def channels(self):
...         return [Channel("lamp", "W", "other")]
...     def read(self):
...         return [Reading("lamp", 0.0, 40.0, Quality.GOOD)]
>>> class TestLamp(SensorContract):
...     def make_sensor(self):
...         return Lamp()
>>> TestLamp().test_every_channel_is_read_in_order()
"""

from wattline.testing.actuator_contract import ActuatorContract
from wattline.testing.choice_contract import ChoiceContract
from wattline.testing.clauses import broken_clauses
from wattline.testing.composing import composed
from wattline.testing.policy_contract import PolicyContract
from wattline.testing.sensor_contract import SensorContract

__all__ = ["ActuatorContract", "ChoiceContract", "PolicyContract", "SensorContract",
           "broken_clauses", "composed"]
