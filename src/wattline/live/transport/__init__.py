"""What agents and the controller say to each other, and what carries it: MQTT."""
