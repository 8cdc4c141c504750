"""Column maps of public job tables, as TOML files."""
