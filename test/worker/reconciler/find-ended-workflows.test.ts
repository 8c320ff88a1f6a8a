import assert from 'node:assert/strict';
import type { Client } from '@temporalio/client';
import { findEndedWorkflows } from '../../../worker/reconciler/find-ended-workflows.ts';

it('a workflow that cannot be asked about fails the question once the others have answers or have failed, too', async () => {
  let underWay = 0;
  const describe = async (id: string) => {
    underWay += 1;
    for (let turn = id === 'first' ? 0 : 3; turn > 0; turn -= 1) await new Promise(setImmediate);
    underWay -= 1;
    throw new Error(`${id} has no answer`);
  };
  const client = {
    withDeadline: (_deadline: number, ask: () => unknown) => ask(),
    workflow: {
      count: async () => ({ count: 0 }),
      async *list() {},
      getHandle: (id: string) => ({ describe: () => describe(id) }),
    },
  } as unknown as Client;
  await assert.rejects(findEndedWorkflows(client, ['first', 'second', 'third']), /first has no answer/);
  assert.equal(underWay, 0);
});
