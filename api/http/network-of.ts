import type { IncomingMessage } from 'node:http';
import { hostNetwork } from '../../platform/net/host-network.ts';

/** Longer than any address. A proxy may forward something else. */
const MAX_CHARS = 64;

/** Returns the client's network, as the outermost of the operator's `proxies` saw it. */
export function networkOf({ headers, socket }: IncomingMessage, proxies: number): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  const seen = proxies > 0 ? forwarded.at(-proxies)?.trim().slice(0, MAX_CHARS) : undefined;
  return hostNetwork(seen || socket.remoteAddress || '');
}
