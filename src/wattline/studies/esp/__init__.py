"""Power-adaptive scheduling of the ESP-2 mix: the cases of the published validation."""
