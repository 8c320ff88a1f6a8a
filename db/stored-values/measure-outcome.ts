import type { Value } from '../../flow/value.ts';
import type { Db } from '../connect.ts';
import { measureOutputs, measureValue } from './load-references.ts';
import { measureInput } from './stored-inputs.ts';

/**
 * Returns the bytes that describing a call's outcome reads: its result when it completed, its pause when it `pauses`.
 */
export async function measureOutcome(
  db: Db,
  callId: string,
  { result, pauses }: { result: Value | null; pauses: boolean },
): Promise<number> {
  if (pauses) return measurePause(db, callId);
  return result ? measureValue(db, callId, result) : 0;
}

/**
 * Returns the bytes that describing a call's pause reads: its outputs, and its input with the outputs that its caller
 * sent.
 */
export async function measurePause(db: Db, callId: string): Promise<number> {
  const [outputs, input] = await Promise.all([measureOutputs(db, callId), measureInput(db, callId)]);
  return outputs + input;
}
