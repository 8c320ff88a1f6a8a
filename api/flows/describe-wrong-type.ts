import { PROCESSOR_TYPES } from '../../flow/definition.ts';

/** Lists the valid step types. When a step has a block's type, says where that belongs. */
export function describeWrongType(step: unknown): string {
  const written = (step as { type?: unknown } | null)?.type;
  const known = PROCESSOR_TYPES.find((type) => type === written);
  return `The type must be sequential, parallel or loop${known ? `: write processor_type: ${known} for a block` : ''}.`;
}
