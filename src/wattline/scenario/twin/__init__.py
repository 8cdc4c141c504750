"""A scenario with a `[twin]`: a machine with shared nodes as its site's own files have it."""
