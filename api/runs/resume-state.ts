// resumeState: a signed token that stands for where a run paused, for callers who want none of it changed.
import { createHash, hkdfSync } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { canonicalJson } from '../../flow/canonical-json.ts';
import { ServiceError } from '../../flow/errors.ts';

/** How long a resume may bring the token of its pause. */
const RESUME_STATE_DAYS = 7;

const ALGORITHM = 'HS256';

/** A pause. `messages` and `outputs` are the digests of the conversation and of the outputs that the caller was given. */
type PausedState = {
  executionId: string;
  flowVersionId: string;
  step_id: string;
  iterations: number;
  messages: string;
  outputs: string;
};

/** The parts of a pause by which a resume is compared with its token. Of several digests of its outputs, one is enough. */
type ComparedState = Partial<Omit<PausedState, 'outputs'>> & { outputs?: string | string[] };

/** Returns the SHA-256 (hex) of a JSON value; the order of its keys makes no difference. */
export function digestOf(json: unknown): string {
  return createHash('sha256').update(canonicalJson(json)).digest('hex');
}

/** Signs a pause, with a key derived from the `pepper` of the API keys. The same pause always has the same token. */
export function signState(pepper: string, state: PausedState, pausedAt: Date): Promise<string> {
  const expires = Math.floor(pausedAt.getTime() / 1000) + RESUME_STATE_DAYS * 24 * 60 * 60;
  return new SignJWT(state)
    .setProtectedHeader({ alg: ALGORITHM })
    .setExpirationTime(expires)
    .sign(keyFrom(pepper));
}

/**
 * Throws INVALID_RESUME unless `token` was signed by this service, has not expired, and stands for `state`. `isRepeated`: the
 * resume was accepted before, when the token had not expired.
 */
export async function requireState(
  pepper: string,
  token: string,
  state: ComparedState,
  { isRepeated = false } = {},
): Promise<void> {
  const options = { algorithms: [ALGORITHM], ...(isRepeated && { currentDate: new Date(0) }) };
  const { payload } = await jwtVerify(token, keyFrom(pepper), options).catch((error: unknown) => {
    if (error instanceof errors.JWTExpired)
      throw new ServiceError('INVALID_RESUME', `resumeState is older than ${RESUME_STATE_DAYS} days.`);
    throw unknownState();
  });
  const changed = Object.entries(state).flatMap(([field, value]) =>
    [value].flat().some((one) => one === payload[field]) ? [] : field,
  );
  if (changed.length > 0)
    throw new ServiceError(
      'INVALID_RESUME',
      `resumeState belongs to another pause: ${changed.join(', ')} differ. Send back what the pause answered, with the tool results appended.`,
    );
}

/** Makes the 400 for a token that this service did not sign. */
export function unknownState(): ServiceError {
  return new ServiceError('INVALID_RESUME', 'resumeState was not issued by this service.');
}

function keyFrom(pepper: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', pepper, '', 'weir resumeState', 32));
}
