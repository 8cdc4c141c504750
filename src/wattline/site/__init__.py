"""What sites have: the files and dumps of their resource manager, read as they are."""
