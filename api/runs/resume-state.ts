// resumeState: an opaque, authenticated copy of where a run paused, for callers who want no part of it changed.
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../../flow/canonical-json.ts';
import { ServiceError } from '../../flow/errors.ts';

/** How long a caller may take to come back with it. */
export const RESUME_STATE_DAYS = 7;

export type PausedState = {
  executionId: string;
  flowVersionId: string;
  step_id: string;
  iterations: number;
  /** SHA-256 of the conversation and of the outputs that the pause answered. */
  messages: string;
  outputs: string;
};

/** SHA-256 (hex) of a JSON value, whatever the order of its keys. */
export function digestOf(json: unknown): string {
  return createHash('sha256').update(canonicalJson(json)).digest('hex');
}

/** `pepper` is that of the API keys; the key is made from it. */
export function signState(pepper: string, state: PausedState, pausedAt: Date): string {
  const expires = pausedAt.getTime() + RESUME_STATE_DAYS * 24 * 60 * 60 * 1000;
  const payload = Buffer.from(JSON.stringify({ ...state, expires })).toString('base64url');
  return `${payload}.${macOf(pepper, payload)}`;
}

/** Throws INVALID_RESUME unless `token` was signed here, is not too old, and stands for `state`. */
export function requireState(pepper: string, token: string, state: PausedState): void {
  const [payload = ''] = token.split('.');
  const sent = Buffer.from(token);
  const expected = Buffer.from(`${payload}.${macOf(pepper, payload)}`);
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected))
    throw new ServiceError('INVALID_RESUME', 'resumeState is not what this service sent.');
  const { expires, ...signed } = JSON.parse(Buffer.from(payload, 'base64url').toString());
  if (expires < Date.now())
    throw new ServiceError('INVALID_RESUME', `resumeState is older than ${RESUME_STATE_DAYS} days.`);
  const changed = Object.keys(state).filter((field) => signed[field] !== state[field as keyof PausedState]);
  if (changed.length > 0)
    throw new ServiceError(
      'INVALID_RESUME',
      `resumeState stands for another pause: ${changed.join(', ')} differ. Echo what the pause answered, with results appended.`,
    );
}

function macOf(pepper: string, payload: string): string {
  const key = hkdfSync('sha256', pepper, '', 'weir resumeState', 32);
  return createHmac('sha256', Buffer.from(key)).update(payload).digest('base64url');
}
