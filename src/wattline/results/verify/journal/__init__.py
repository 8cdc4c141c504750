"""Rules for journals of a controller or a simulation: what was told, ordered and carried out."""
