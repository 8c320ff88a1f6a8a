// Block overrides: the config plane of a run (docs/run-and-wait.md, Change blocks for one run).
import type { Block, FlowDefinition } from './definition.ts';
import { findOnLengthProblem, findTimeoutProblem } from './find-tree-problems.ts';
import { listBlocks } from './plan.ts';

/** The fields of a block that a caller may override; never the processor type or code (see `findOverrideProblems`). */
type BlockOverride = Partial<
  Pick<Block, 'prompt' | 'model' | 'inputSchema' | 'outputSchema' | 'processor_config'>
>;
export type BlockOverrides = { [stepId: string]: BlockOverride };

/** Finds the problems of overrides of the right shape: unknown steps, and fields that the block's type does not allow. */
export function findOverrideProblems(
  definition: FlowDefinition,
  overrides: BlockOverrides,
): { field: string; message: string }[] {
  const blocks = new Map(listBlocks(definition).map((block) => [block.step_id, block]));
  return Object.entries(overrides).flatMap(([stepId, override]) => {
    const block = blocks.get(stepId);
    if (!block)
      return [
        {
          field: stepId,
          message: `No block of this flow has the step_id ${JSON.stringify(stepId.slice(0, 100))}.`,
        },
      ];
    const problems = [];
    if (override.prompt !== undefined && block.processor_type !== 'llm')
      problems.push({
        field: `${stepId}.prompt`,
        message:
          block.processor_type === 'code'
            ? 'A code block’s code cannot be overridden.'
            : 'A passthrough block has no prompt.',
      });
    const tooLong = findTimeoutProblem(block.processor_type, override.processor_config);
    if (tooLong) problems.push({ field: `${stepId}.processor_config.timeout_ms`, message: tooLong });
    const unusable = findOnLengthProblem(applyOverride(block, override));
    if (unusable) problems.push({ field: `${stepId}.processor_config.on_length`, message: unusable });
    if (override.model !== undefined && block.processor_type !== 'llm')
      problems.push({ field: `${stepId}.model`, message: 'Only a model block has a model.' });
    return problems;
  });
}

/** Returns the override of one block. */
export function overrideOf(overrides: BlockOverrides, stepId: string): BlockOverride | undefined {
  return Object.hasOwn(overrides, stepId) ? overrides[stepId] : undefined;
}

/** Returns the block as this run sees it. */
export function applyOverride(block: Block, override: BlockOverride | undefined): Block {
  if (!override) return block;
  return {
    ...block,
    ...override,
    processor_config: { ...block.processor_config, ...override.processor_config },
  };
}
