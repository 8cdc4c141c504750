"""What runs on each node: reads power, reports it, and holds the caps that it is ordered to."""
