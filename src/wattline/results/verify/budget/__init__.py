"""Rules of energy budgets: energy for each start, what periods drew, and that it is used."""
