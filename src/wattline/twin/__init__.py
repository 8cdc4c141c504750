"""The twin: a site's own configuration and log as a machine that schedules like it."""
