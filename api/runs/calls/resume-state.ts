// resumeState: a signed token for the state in which a run paused, so that a resume cannot change it.
import { createHash, hkdfSync } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Json } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { canonicalJson } from '../../../flow/json.ts';
import type { ToolCallMessage } from '../../../flow/tool-calls.ts';

/** How long a resume may bring the token of its pause. */
export const RESUME_STATE_DAYS = 7;

const ALGORITHM = 'HS256';

type Outputs = { [stepId: string]: Json };

/** A pause, with the conversation and the outputs for the caller. */
type PausedState = {
  executionId: string;
  flowVersionId: string;
  step_id: string;
  iterations: number;
  messages: ToolCallMessage[];
  outputs: Outputs;
};

/**
 * A pause as a resume sends it back, with the tool results in its conversation. Undefined fields are not compared
 * with the token; of several outputs, one match is enough.
 */
type BroughtState = {
  [Field in keyof Omit<PausedState, 'outputs'>]: PausedState[Field] | undefined;
} & { outputs: Outputs[] | undefined };

/** Signs a pause, with a key derived from the `pepper` of the API keys. The token is deterministic. */
export function signState(pepper: string, state: PausedState, pausedAt: Date): Promise<string> {
  const expires = Math.floor(pausedAt.getTime() / 1000) + RESUME_STATE_DAYS * 24 * 60 * 60;
  const { messages, outputs, ...ids } = state;
  return new SignJWT({ ...ids, messages: digestOf(messages), outputs: digestOf(outputs) })
    .setProtectedHeader({ alg: ALGORITHM })
    .setExpirationTime(expires)
    .sign(keyFrom(pepper));
}

/**
 * Throws INVALID_RESUME unless `token` was signed by this service for `state` and has not expired. `isRepeated`: the
 * resume was accepted before, when the token had not expired.
 */
export async function requireState(
  pepper: string,
  token: string,
  state: BroughtState,
  { isRepeated = false } = {},
): Promise<void> {
  const options = { algorithms: [ALGORITHM], ...(isRepeated && { currentDate: new Date(0) }) };
  const { payload } = await jwtVerify(token, keyFrom(pepper), options).catch((error: unknown) => {
    if (error instanceof errors.JWTExpired)
      throw new ServiceError('INVALID_RESUME', `resumeState is older than ${RESUME_STATE_DAYS} days.`);
    throw unknownState();
  });
  const compared = {
    ...state,
    messages: state.messages && digestOf(withoutResults(state.messages)),
    outputs: state.outputs?.map(digestOf),
  };
  const changed = Object.entries(compared).flatMap(([field, value]) =>
    value === undefined || [value].flat().some((one) => one === payload[field]) ? [] : field,
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

/** Returns the SHA-256 (hex) of a JSON value. The order of its keys makes no difference. */
function digestOf(json: unknown): string {
  return createHash('sha256').update(canonicalJson(json)).digest('hex');
}

/** Returns the part of a conversation that the pause contained: all but the tool results at its end. */
function withoutResults(messages: ToolCallMessage[]): ToolCallMessage[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

function keyFrom(pepper: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', pepper, '', 'weir resumeState', 32));
}
