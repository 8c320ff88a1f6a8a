import { PROCESSOR_TYPES } from '../../flow/definition.ts';

/** Says which types a step can have, and where the type of a block is written when the step has that. */
export function describeWrongType(step: unknown): string {
  const written = (step as { type?: unknown } | null)?.type;
  const known = PROCESSOR_TYPES.find((type) => type === written);
  return `The type must be sequential, parallel or loop${known ? `: write processor_type: ${known} for a block` : ''}.`;
}
