// Verifies a webhook of Weir. Needs nothing but Node.js; copy it into your project.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signatures further from now are refused, so that nobody can replay a recorded request later. */
const TOLERANCE_SECONDS = 300;

/**
 * Whether a request is from Weir: `body` is the raw body as it arrived, `signature` the header X-Weir-Signature and
 * `secret` your signing secret, `whsec_` included. Do this before you parse the body.
 */
export function isFromWeir(
  body: Uint8Array,
  signature: string,
  secret: string,
  nowSeconds: number = Date.now() / 1_000,
): boolean {
  const parts = new Map(signature.split(',').map((part) => part.split('=', 2) as [string, string]));
  const timestamp = parts.get('t') ?? '';
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS)
    return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  // v2 is there for 24 hours after a rotation, signed with the previous secret.
  return ['v1', 'v2'].some((slot) => {
    const sent = Buffer.from(parts.get(slot) ?? '', 'hex');
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
}
