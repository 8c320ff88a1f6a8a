import type { z } from 'zod';
import type { blockDetail } from '../../api/runs/run-shapes/block-answers.ts';
import { callApi } from '../api/call-api.ts';
import { getRun, runPath } from '../api/get-run.ts';
import { type BlockState, blockLine } from '../terminal/block-table.ts';
import type { CommandResult } from '../terminal/print-result.ts';

const VALUES = ['input', 'sent', 'output'] as const;

/** Shows the last execution of a block: its values up to 16 KiB each, or one of them in full. */
export async function showBlock(
  executionId: string,
  key: string,
  { value }: { value?: (typeof VALUES)[number] },
): Promise<CommandResult> {
  const path = `${runPath(await getRun(executionId))}/blocks/${encodeURIComponent(key)}`;
  if (value !== undefined) {
    const json = await callApi<unknown>('GET', `${path}/${value}`);
    return { json, text: JSON.stringify(json, null, 2) };
  }
  const block = await callApi<z.output<typeof blockDetail>>('GET', path);
  const lines = VALUES.map((name) => {
    const bytes = block[`${name}Bytes`];
    const isLarge = block[name] === null && bytes > 'null'.length;
    return `${name}: ${isLarge ? `${bytes} bytes; --value ${name} prints them` : JSON.stringify(block[name])}`;
  });
  return { json: block, text: [blockLine(block as BlockState), ...lines].join('\n') };
}
