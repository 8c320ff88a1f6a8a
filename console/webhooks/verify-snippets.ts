// The code with which receivers verify deliveries: the files of examples/webhooks/, verbatim (a test compares them).

export const VERIFY_TYPESCRIPT = `// Verifies a webhook of Weir. Needs nothing but Node.js; copy it into your project.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signatures further from now are refused, so that nobody can replay a recorded request later. */
const TOLERANCE_SECONDS = 300;

/**
 * Whether a request is from Weir: \`body\` is the raw body as it arrived, \`signature\` the header X-Weir-Signature and
 * \`secret\` your signing secret, \`whsec_\` included. Do this before you parse the body.
 */
export function isFromWeir(
  body: Uint8Array,
  signature: string,
  secret: string,
  nowSeconds: number = Date.now() / 1_000,
): boolean {
  const parts = new Map(signature.split(',').map((part) => part.split('=', 2) as [string, string]));
  const timestamp = parts.get('t') ?? '';
  if (!/^\\d{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS)
    return false;
  const expected = createHmac('sha256', secret).update(\`\${timestamp}.\`).update(body).digest();
  // v2 is there for 24 hours after a rotation, signed with the previous secret.
  return ['v1', 'v2'].some((slot) => {
    const sent = Buffer.from(parts.get(slot) ?? '', 'hex');
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
}
`;

export const VERIFY_PYTHON = `"""Verifies a webhook of Weir. Needs nothing but Python 3.8; copy it into your project."""

import hashlib
import hmac
import re
import time
from typing import Optional

# Signatures further from now are refused, so that nobody can replay a recorded request later.
TOLERANCE_SECONDS = 300


def is_from_weir(body: bytes, signature: str, secret: str, now: Optional[float] = None) -> bool:
    """Whether a request is from Weir.

    \`body\` is the raw body as it arrived, \`signature\` the header X-Weir-Signature and \`secret\` your signing secret,
    \`whsec_\` included. Do this before you parse the body.
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
`;
