import { formatTable, oneLine } from './format-table.ts';

/** A block of a run, as GET …/jobs/{executionId} answers it. */
export type BlockState = {
  key: string;
  name: string;
  status: string;
  attempts: number;
  model: string | null;
  errorMessage?: string;
  usage: { promptTokens: number; completionTokens: number; cost: number; ms: number };
};

/** A block that takes long or was refused, as GET …/jobs/{executionId} answers it. */
export type BlockUnderWay = {
  key: string;
  name: string;
  status: 'running' | 'retrying';
  attempts: number;
  errorMessage?: string;
  nextAttemptAt?: string;
};

/** Formats one row per block, with its error in place of its model. */
export function blockTable(blocks: BlockState[]): string {
  return formatTable(
    ['block', 'name', 'status', 'ms', 'tokens', 'credits', 'attempts', 'model or error'],
    blocks.map((block) => [
      block.key,
      block.name,
      block.status,
      block.usage.ms,
      block.usage.promptTokens + block.usage.completionTokens,
      block.usage.cost,
      block.attempts,
      block.errorMessage ?? block.model ?? '',
    ]),
    'No block has finished.',
  );
}

/** Formats one block as a line. */
export function blockLine(block: BlockState): string {
  const tokens = block.usage.promptTokens + block.usage.completionTokens;
  const spent = tokens > 0 ? `, ${tokens} tokens, ${block.usage.cost} credits` : '';
  const line = `${block.status} ${block.key} (${block.name}) ${block.usage.ms} ms${spent}`;
  return oneLine(block.errorMessage === undefined ? line : `${line}: ${block.errorMessage}`);
}

/** Formats one block under way as a line. */
export function underWayLine(block: BlockUnderWay): string {
  const line = `${block.status} ${block.key} (${block.name})`;
  if (block.nextAttemptAt === undefined)
    return oneLine(block.attempts > 1 ? `${line}, attempt ${block.attempts}` : line);
  return oneLine(
    `${line}, attempt ${block.attempts} failed, the next is at ${block.nextAttemptAt}: ${block.errorMessage}`,
  );
}
