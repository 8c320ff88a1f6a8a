import { z } from 'zod';

const failure = z.object({ message: z.string().optional().catch(undefined) });
const choice = z.object({
  finish_reason: z.unknown().optional(),
  error: failure.optional().catch(undefined),
  message: z.record(z.string(), z.unknown()).catch({}),
});
const answerShape = z.object({ choices: z.tuple([choice], z.unknown()) });

/** A choice that its gateway marks as failed: the gateway's words, and whether the model had written something before. */
type FailedChoice = { said: string; isWritten: boolean };

/** Finds the failure of a model in an answer that its gateway had begun with status 200, as OpenRouter reports it. */
export function findFailedChoice(answer: unknown): FailedChoice | undefined {
  const [found] = answerShape.safeParse(answer).data?.choices ?? [];
  if (!found || found.finish_reason === 'content_filter') return undefined;
  if (found.finish_reason !== 'error' && !found.error) return undefined;
  const { role: _, ...message } = found.message;
  return {
    said: found.error?.message || 'its provider failed while it answered',
    isWritten: Object.values(message).some((value) => !isEmpty(value)),
  };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
