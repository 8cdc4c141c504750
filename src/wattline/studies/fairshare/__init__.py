"""Fair-share by joules: the published burst of three users."""
