import assert from 'node:assert/strict';
import type { Json } from '../../flow/definition.ts';
import { MESSAGE_REF, type Value } from '../../flow/value.ts';
import { passthrough } from '../blocks.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { attemptOf } from './attempt-of.ts';
import { useExecutors } from './use-executors.ts';

describe('the output of a block', () => {
  const executors = useExecutors();

  /**
   * Returns what the next block gets as its input when the stored output of this one is changed in between; its process is
   * the same, or `another`.
   */
  async function handOver(output: Json, another = false): Promise<Json> {
    const { db } = executors;
    const { runs } = await openAccount(db, 0, 1, [passthrough('first'), passthrough('next')]);
    const [callId = ''] = runs;
    const { createExecutor } = executors;
    let given: Json = null;
    const execute = (executor: ReturnType<typeof createExecutor>, stepId: string, input: Value) =>
      executor.run({ callId, stepId, blockKey: stepId, input, ends: false }, attemptOf(1), async (asked) => {
        given = asked.input;
        return { output };
      });
    const executor = createExecutor();
    const value = (await execute(executor, 'first', { ref: MESSAGE_REF })) as Value;
    await db
      .updateTable('block_run')
      .set({ output: JSON.stringify('changed') })
      .where('execution_id', '=', callId)
      .execute();
    await execute(another ? createExecutor() : executor, 'next', value);
    return given;
  }

  const large = { text: 'é'.repeat(2_000), list: [1, null] };

  it('is handed to the next block in the same process without being read, also where it goes by reference', async () => {
    assert.deepEqual(await handOver(large), large);
  });

  it('is read where the next block runs in another process', async () => {
    assert.equal(await handOver(large, true), 'changed');
  });

  it('is read where it is too large to be kept in hand', async () => {
    assert.equal(await handOver('x'.repeat(256 * 1024)), 'changed');
  });
});
