import type { Value } from '../../flow/value.ts';
import type { Db } from '../connect.ts';
import { measureOutputs, measureValue } from './load-references.ts';
import { measureInput } from './stored-inputs.ts';

/** Measures what is read to answer with a call's outcome: its result where it completed, its pause where it `pauses`. */
export async function measureOutcome(
  db: Db,
  callId: string,
  { result, pauses }: { result: Value | null; pauses: boolean },
): Promise<number> {
  if (pauses) return measurePause(db, callId);
  return result ? measureValue(db, callId, result) : 0;
}

/** Measures what is read to describe a pause of a call: its outputs, and its input, which has those that its caller brought. */
export async function measurePause(db: Db, callId: string): Promise<number> {
  const [outputs, input] = await Promise.all([measureOutputs(db, callId), measureInput(db, callId)]);
  return outputs + input;
}
