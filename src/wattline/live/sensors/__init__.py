"""What measures, one kind per file."""
