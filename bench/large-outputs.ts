// Parts of the comparison that measure Weir with much at once: large outputs, long calls, many runs.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { INLINE_MAX_BYTES } from '../flow/value.ts';
import { code } from '../test/blocks.ts';
import type { Weir } from './weir.ts';

const BLOCKS = 200;
export const HISTORY_PER_BLOCK = 'history bytes per block, the most of outputs over 2 KB';
const POLL_MS = 100;

/** Measures runs of 200 code blocks in a row that each put out so many bytes of their own. */
export async function measureLargeOutputs(weir: Weir, temporalAddress: string, sizes: number[]) {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const client = new Client({ connection });
    const caller = await weir.createCaller();
    const figures: Record<string, number> = {};
    const referring: number[] = [];
    for (const bytes of sizes) {
      const steps = Array.from({ length: BLOCKS }, (_, index) =>
        code(`block-${index}`, `return '${index} '.padEnd(${bytes}, 'x');`),
      );
      const { url, headers, body } = await caller.target(steps, '', 'jobs');
      const began = performance.now();
      const executionId = await start(url, headers, body);
      const historySize = await waitForHistory(weir, client, executionId);
      const seconds = (performance.now() - began) / 1_000;
      const size = `${bytes / 1_000} KB`;
      figures[`${size}: history bytes per block`] = historySize / BLOCKS;
      // Larger values travel through a history as references (docs/decisions/0003-values-travel-as-references.md).
      if (bytes > INLINE_MAX_BYTES) referring.push(historySize / BLOCKS);
      figures[`${size}: rows per block`] = (await countRows(weir, executionId)) / BLOCKS;
      figures[`${size}: ms per block`] = (seconds * 1_000) / BLOCKS;
      figures[`${size}: ms per MB`] = (seconds * 1_000) / ((BLOCKS * bytes) / 1_000_000);
    }
    figures[HISTORY_PER_BLOCK] = Math.max(...referring);
    return figures;
  } finally {
    await connection.close();
  }
}

async function start(url: string, headers: Record<string, string> = {}, body: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const { executionId } = (await response.json()) as { executionId?: string };
  if (!executionId) throw new Error(`${url} answered ${response.status}.`);
  return executionId;
}

/** Waits until the workflow has closed; returns the bytes of its history. Throws when the run did not complete. */
async function waitForHistory({ db }: Weir, client: Client, executionId: string): Promise<number> {
  for (;;) {
    const { status, historySize = 0 } = await client.workflow.getHandle(executionId).describe();
    if (status.name !== 'RUNNING') {
      const run = await db
        .selectFrom('run')
        .select('status')
        .where('execution_id', '=', executionId)
        .executeTakeFirstOrThrow();
      if (run.status !== 'completed') throw new Error(`The run with large outputs ended as ${run.status}.`);
      return historySize;
    }
    await sleep(POLL_MS);
  }
}

async function countRows({ db }: Weir, executionId: string): Promise<number> {
  const { rows } = await db
    .selectFrom('block_run')
    .select(({ fn }) => fn.countAll<string>().as('rows'))
    .where('execution_id', '=', executionId)
    .executeTakeFirstOrThrow();
  return Number(rows);
}
