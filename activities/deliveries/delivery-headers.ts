import { createHmac } from 'node:crypto';
import { SECRET_PREFIX } from '../../db/webhooks/webhook-secrets.ts';

/**
 * Returns the headers of one attempt, signed now over the exact bytes of `body`. The key of X-Weir-Signature is the secret
 * as its owner sees it, `whsec_` included; the key of webhook-signature is the bytes that its base64 encodes, as the
 * Standard Webhooks specification has it.
 */
export function deliveryHeaders(
  { deliveryId, event, body }: { deliveryId: string; event: string; body: Buffer },
  { current, previous }: { current: string; previous: string | null },
): { [name: string]: string } {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const sign = (secret: string) => hmac(secret, `${timestamp}.`, body).toString('hex');
  const signStandard = (secret: string) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${hmac(key, `${deliveryId}.${timestamp}.`, body).toString('base64')}`;
  };
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Weir-Webhooks/1.0',
    'X-Weir-Event': event,
    'X-Weir-Delivery': deliveryId,
    'X-Weir-Timestamp': timestamp,
    'X-Weir-Signature': `t=${timestamp},v1=${sign(current)}${previous === null ? '' : `,v2=${sign(previous)}`}`,
    'webhook-id': deliveryId,
    'webhook-timestamp': timestamp,
    'webhook-signature': [current, ...(previous === null ? [] : [previous])].map(signStandard).join(' '),
  };
}

function hmac(key: string | Buffer, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}
