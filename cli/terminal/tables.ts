// Columns, and lines about the blocks of a run, that several commands print.
import type { z } from 'zod';
import type { blockRun } from '../../api/runs/run-shapes/block-answers.ts';
import type { blockUnderWay } from '../../api/runs/run-shapes/block-under-way.ts';
import { oneLine } from './print.ts';

export type BlockState = z.output<typeof blockRun>;
export type BlockUnderWay = z.output<typeof blockUnderWay>;

export const TOKEN_COLUMNS = ['tokens in', 'cached', 'cache writes', 'tokens out', 'reasoning'];

/** Returns the cells of TOKEN_COLUMNS. */
export function tokenCells(tokens: Partial<BlockState['usage']> | null) {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens } = tokens ?? {};
  return [promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens];
}

/** Adds up the tokens of a block; undefined when they are unknown. */
export function tokensOf({ usage: { promptTokens, completionTokens } }: BlockState): number | undefined {
  return promptTokens === null || completionTokens === null ? undefined : promptTokens + completionTokens;
}

/** Lists the tokens that have prices of their own, or that the answer does not show. */
function partsOf({ usage }: BlockState): string {
  const parts = [
    usage.cachedTokens && `${usage.cachedTokens} cached`,
    usage.cacheWriteTokens && `${usage.cacheWriteTokens} written to the cache`,
    usage.reasoningTokens && `${usage.reasoningTokens} of reasoning`,
    usage.estimated && 'estimated',
  ].filter(Boolean);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

/** Formats one block as a line. */
export function blockLine(block: BlockState): string {
  const tokens = tokensOf(block) ?? 0;
  const { cost, uncharged } = block.usage;
  const beyond = uncharged ? ` (${uncharged} more are not charged)` : '';
  const spent = tokens > 0 ? `, ${tokens} tokens${partsOf(block)}, ${cost} credits${beyond}` : '';
  const line = `${block.status} ${block.key} (${block.name}) ${block.usage.ms} ms${spent}`;
  return oneLine(block.errorMessage === undefined ? line : `${line}: ${block.errorMessage}`);
}

/** Formats the notes of a run about its cost as lines. */
export function noteLines(notes: string[] = []): string[] {
  return notes.map((text) => `note: ${oneLine(text)}`);
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
