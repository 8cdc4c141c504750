"""Contracts with the grid on the electricity's side: follow a signal, or draw less when asked."""
