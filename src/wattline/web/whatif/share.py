"""A question as a text for a link: canonical JSON in base64url.

Fields at their defaults are left out, keys are in alphabetical order, there are no spaces, the
encoding is UTF-8, the padding of base64 is left out, and `1.` before it is the version of this
form. So equal questions have equal links, and a page makes one with `btoa` alone.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from wattline.model.errors import InputError
from wattline.web.whatif.body import WhatIf

VERSION = "1"
RIGHT = "copy the whole link; it begins with '1.' behind '?s='"


def question_of(asked: WhatIf) -> dict[str, Any]:
    """What is asked, without what has its default."""
    found = asked.fields()
    if asked.baseline is not None:
        found["baseline"] = asked.baseline.fields()
    return found


def share_text(asked: WhatIf) -> str:
    text = json.dumps(question_of(asked), sort_keys=True, separators=(",", ":"),
                      ensure_ascii=False)
    packed = base64.urlsafe_b64encode(text.encode("utf-8")).decode("ascii")
    return f"{VERSION}.{packed.rstrip('=')}"


def shared_question(text: str) -> dict[str, Any]:
    """The fields that a link holds; they are checked like those of any request."""
    version, dot, packed = text.partition(".")
    if version != VERSION or not dot:
        raise InputError(f"this link is of no form that is known here; {RIGHT}")
    try:
        raw = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        found = json.loads(raw.decode("utf-8"))
    except (binascii.Error, ValueError, RecursionError):
        raise InputError(f"this link is damaged; {RIGHT}") from None
    if not isinstance(found, dict):
        raise InputError(f"this link holds no question; {RIGHT}")
    return found
