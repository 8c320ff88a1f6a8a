import { z } from 'zod';

const BAD_GATEWAY = 502;
/** The status that a gateway would have sent, had it not sent 200 before. */
export const gatewayStatus = z.int().min(400).max(599).catch(BAD_GATEWAY);

const failure = z.object({ message: z.string().optional().catch(undefined), code: gatewayStatus });
const failedChoice = z.object({
  finish_reason: z.unknown().optional(),
  error: failure.optional().catch(undefined),
  message: z.record(z.string(), z.unknown()).catch({}),
});
const answerShape = z.object({ choices: z.tuple([failedChoice], z.unknown()) });

/** A choice that its gateway marks as failed, in the gateway's words. `isWritten`: the model had written something before. */
type FailedChoice = { message: string; code: number; isWritten: boolean };

/** Finds the failure of a model in an answer that its gateway had begun with status 200, as OpenRouter reports it. */
export function findFailedChoice(answer: unknown): FailedChoice | undefined {
  const [found] = answerShape.safeParse(answer).data?.choices ?? [];
  if (!found || found.finish_reason === 'content_filter') return undefined;
  if (found.finish_reason !== 'error' && !found.error) return undefined;
  const { role: _, ...written } = found.message;
  return {
    message: found.error?.message || 'its provider failed while it answered',
    code: found.error?.code ?? BAD_GATEWAY,
    isWritten: Object.values(written).some((value) => !isEmpty(value)),
  };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
