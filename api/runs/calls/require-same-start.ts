import { isDeepStrictEqual } from 'node:util';
import type { StoredRunInput } from '../../../db/tables/run-input.ts';
import type { Attachment } from '../../../flow/attachment.ts';
import { invalidField } from '../../http/invalid-field.ts';
import { readUnresolved } from '../run-shapes/attachments.ts';

type OfStart = Pick<StoredRunInput, 'parameters' | 'attachments'>;

/**
 * Throws VALIDATION_ERROR for parameters and attachments that differ from those the run was started with: they apply
 * to the whole run, so clients may repeat them, and a difference would be lost silently. Throws the error codes of
 * attachments.
 */
export function requireSameStart(
  { parameters, attachments = [] }: OfStart,
  sent: { parameters?: unknown; attachments?: unknown[] | undefined },
): void {
  const read = sent.attachments && readUnresolved(sent.attachments);
  if (sent.parameters && !isDeepStrictEqual(sent.parameters, parameters)) throw differs('parameters');
  if (read && !areSame(read, attachments)) throw differs('attachments');
}

function areSame(sent: ReturnType<typeof readUnresolved>, stored: Attachment[]): boolean {
  return isDeepStrictEqual(
    sent.map(({ attachment }) => attachment),
    stored,
  );
}

function differs(field: string): Error {
  return invalidField(
    field,
    'is not what the run was started with, which holds for all of it: leave it out, or start another run',
  );
}
