"""Headers that tell a browser what a page may do: nothing from elsewhere, no inline script."""

from __future__ import annotations

CSP = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
    "font-src 'self'", "connect-src 'self'", "manifest-src 'self'", "base-uri 'none'",
    "form-action 'self'", "frame-ancestors 'none'",
))
"""Charts are drawn on a canvas and set their styles through objects, which needs no inline text."""

ALWAYS: tuple[tuple[str, str], ...] = (
    ("content-security-policy", CSP),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
TLS = ("strict-transport-security", "max-age=31536000")


def with_headers(
    given: list[tuple[bytes, bytes]], path: str, tls: bool
) -> list[tuple[bytes, bytes]]:
    """The headers of an answer and ours; what a route says of its own cache stays."""
    ours = [*ALWAYS, TLS] if tls else list(ALWAYS)
    if path.startswith("/api") and not any(name == b"cache-control" for name, _ in given):
        ours.append(("cache-control", "no-store"))
    names = {name.encode() for name, _ in ours}
    kept = [(name, value) for name, value in given
            if name.lower() not in names and name.lower() != b"server"]
    return kept + [(name.encode(), value.encode()) for name, value in ours]
