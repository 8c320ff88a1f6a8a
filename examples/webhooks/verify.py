"""Verifies a webhook of Weir. Needs nothing but Python 3.8; copy it into your project."""

import hashlib
import hmac
import re
import time
from typing import Optional

# Signatures further from now are refused, so that nobody can replay a recorded request later.
TOLERANCE_SECONDS = 300


def is_from_weir(body: bytes, signature: str, secret: str, now: Optional[float] = None) -> bool:
    """Whether a request is from Weir.

    `body` is the raw body as it arrived, `signature` the header X-Weir-Signature and `secret` your signing secret,
    `whsec_` included. Do this before you parse the body.
    """
    parts = dict(part.split("=", 1) for part in signature.split(",") if "=" in part)
    timestamp = parts.get("t", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    # v2 is there for 24 hours after a rotation, signed with the previous secret.
    return any(hmac.compare_digest(parts.get(slot, "").encode(), expected.encode()) for slot in ("v1", "v2"))
