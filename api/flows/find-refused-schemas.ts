import type { FlowDefinition } from '../../flow/definition.ts';
import { requireUsableSchema } from '../../platform/json-schema/require-usable-schema.ts';
import { LARGE_BYTES, type LargeWork } from '../../platform/limits/large-work.ts';
import type { EndTurn } from '../../platform/limits/turns.ts';
import { takeLargeWork } from '../http/take-bytes.ts';
import type { Problem } from './describe-file-problems.ts';
import { findSchemaProblems } from './find-schema-problems.ts';

/** Work that needs no permit: checking the schemas of most flows takes less. */
const AT_ONCE_MS = 10;

/**
 * Finds the JSON Schemas of a stored definition that are refused. Those of a flow may take a second together, so they are looked at for some milliseconds at a time, in the owner's turns at large work. Throws
 * RATE_LIMITED when a turn does not come, and REQUEST_TIMEOUT when the signal that `gone` makes aborts first.
 */
export async function findRefusedSchemas(
  work: LargeWork,
  owner: string,
  definition: FlowDefinition,
  gone?: () => AbortSignal,
): Promise<Problem[]> {
  let began = performance.now();
  let endTurn: EndTurn = () => undefined;
  try {
    return await findSchemaProblems(definition, async (schema) => {
      if (performance.now() - began > AT_ONCE_MS) {
        endTurn();
        endTurn = await takeLargeWork(work, owner, LARGE_BYTES, { gone });
        began = performance.now();
      }
      requireUsableSchema(schema);
    });
  } finally {
    endTurn();
  }
}
