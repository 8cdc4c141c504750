"""What sets limits, one kind per file."""
