import { requireRunnable as requireRunnableWith } from '../api/flows/require-runnable.ts';
import type { FlowDefinition } from '../flow/definition.ts';
import { createValidator } from '../json-schema/validator.ts';

/** Throws INVALID_TREE with every problem of the tree and of the JSON Schemas in it. */
export async function requireRunnable(definition: FlowDefinition): Promise<void> {
  const validator = createValidator();
  try {
    await requireRunnableWith(definition, validator.of('operator'));
  } finally {
    await validator.close();
  }
}
