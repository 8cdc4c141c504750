"""What is missing or misconfigured for the live part, and how to mend it."""
