"""The controller beside a resource manager, and a machine to try it on."""
