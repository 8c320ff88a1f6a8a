import assert from 'node:assert/strict';
import type { Weir } from '../../harness.ts';
import { type Outcome, weirIn } from '../cli-harness.ts';

/** Runs `weir operator runs` on the database and the engine of a Weir. */
export function operatorRuns({ config }: Pick<Weir, 'config'>, ...args: string[]): Promise<Outcome> {
  const env = {
    WEIR_STATE_DIR: '/nonexistent',
    DATABASE_URL: config.databaseUrl,
    WEIR_TASK_QUEUE: config.taskQueue,
    TEMPORAL_ADDRESS: config.temporal.connectionOptions.address ?? '',
  };
  return weirIn(env, ['operator', 'runs', ...args]);
}

/** Lists the stuck runs of a Weir as its operator does: the reason by executionId. */
export async function listStuck(weir: Pick<Weir, 'config'>): Promise<{ [executionId: string]: string }> {
  const { code, stdout, stderr } = await operatorRuns(weir, 'list', '--stuck', '--json');
  assert.equal(code, 0, stderr);
  assert.equal(stderr, '');
  const rows: { executionId: string; reason: string }[] = JSON.parse(stdout);
  return Object.fromEntries(rows.map(({ executionId, reason }) => [executionId, reason]));
}
