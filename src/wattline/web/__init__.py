"""The server of the dashboard, and the scripts and styles of pages."""
