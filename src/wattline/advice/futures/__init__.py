"""What the next hours may bring: a moment run ahead, many times, with run times as they were."""
