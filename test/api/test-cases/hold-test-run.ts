import { runAllTests } from '../../../api/test-cases/run-tests.ts';
import { llm } from '../../blocks.ts';
import { hang } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import type { TestsWeir } from './tests-harness.ts';

export const CASES = 10;
/** As many as run at a time. */
export const BEGUN = 8;

/** Starts a test run whose first cases have asked a model, which has not answered; `before`: the calls of models until then. */
export async function holdTestRun(tests: TestsWeir) {
  const flowId = await tests.draft([llm('a', 'x', 'demo/chat')]);
  for (let index = 0; index < CASES; index += 1)
    await tests.testCase(flowId, { type: 'contains', text: 'never' });
  tests.models.will(...Array.from({ length: CASES }, () => hang));
  const before = tests.models.calls.length;
  const running = runAllTests(tests.deps, tests.ada, flowId);
  running.catch(() => undefined);
  await waitUntil(() => tests.models.calls.length >= before + BEGUN);
  const { id } = await tests.weir.db
    .selectFrom('test_run')
    .select('id')
    .where('flow_id', '=', flowId)
    .executeTakeFirstOrThrow();
  return { id, flowId, running, before };
}
