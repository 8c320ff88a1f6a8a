import { isDeepStrictEqual } from 'node:util';
import type { StoredRunInput } from '../../db/tables/run-input.ts';
import type { Attachment } from '../../flow/attachment.ts';
import { invalidField } from '../http/invalid-field.ts';
import { readAttachment } from '../run-shapes/attachments.ts';

type OfStart = Pick<StoredRunInput, 'parameters' | 'attachments'>;

/**
 * Throws VALIDATION_ERROR for parameters and attachments other than those that a run was started with: those hold for all of it,
 * so clients may send them again, and what differs would be lost silently. Throws the codes of malformed attachments.
 */
export function requireSameStart(
  { parameters, attachments = [] }: OfStart,
  sent: { parameters?: unknown; attachments?: unknown[] | undefined },
): void {
  if (sent.parameters && !isDeepStrictEqual(sent.parameters, parameters)) throw differs('parameters');
  if (sent.attachments && !areSame(sent.attachments, attachments)) throw differs('attachments');
}

function areSame(sent: unknown[], stored: Attachment[]): boolean {
  if (sent.length !== stored.length) return false;
  return stored.every((kept, index) => {
    const { attachment, url } = readAttachment(sent[index], index);
    // Runs from earlier releases have the URL as it was understood.
    return isDeepStrictEqual({ ...attachment, url: url.href }, { ...kept, url: new URL(kept.url).href });
  });
}

function differs(field: string): Error {
  return invalidField(
    field,
    'is not what the run was started with, which holds for all of it: leave it out, or start another run',
  );
}
