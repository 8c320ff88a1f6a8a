// Checks that a service which was restored goes on with what waited for its callers.
import assert from 'node:assert/strict';
import { resumeOf } from '../api/runs/tool-calls-harness.ts';
import { answer, type FakeModelServer } from '../fakes/model-server.ts';
import type { Weir } from '../harness.ts';
import type { WorkUnderWay } from './work-under-way.ts';

/** Callers who had an answer go on with it. */
export async function checkCallers(
  weir: Weir,
  { paused, session, tenant }: WorkUnderWay,
  tools: FakeModelServer,
): Promise<void> {
  tools.will(answer('done'));
  const { key } = tenant;
  const resumed = await weir.call('POST', `${paused.flow}/execute`, { key, body: resumeOf(paused.body) });
  assert.deepEqual(
    [resumed.body.status, resumed.body.result],
    ['completed', ['done']],
    JSON.stringify(resumed.body),
  );
  const { executionId, accumulatedOutputs, flow } = session;
  const rest = { executionId, stepIndex: 1, accumulatedOutputs, message: 'session', runRemaining: true };
  const response = await fetch(`${weir.url}/api/v1/seq/${flow}/step`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(rest),
  });
  assert.match(await response.text(), /event: run_completed/);
}
