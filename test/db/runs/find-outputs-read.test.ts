import assert from 'node:assert/strict';
import { findOutputsRead } from '../../../db/runs/find-outputs-read.ts';
import type { Block, LoopStep, Step } from '../../../flow/definition.ts';
import { OUTPUT_MAX_BYTES } from '../../../flow/limits.ts';
import { listBlocks } from '../../../flow/plan.ts';
import { code, passthrough } from '../../blocks.ts';
import { countRowsRead } from '../count-rows-read.ts';
import { openAccount, settle } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const ITERATIONS = 20;

describe('the outputs of earlier steps that a block in a loop reads by name', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const loop = (step_id: string, body: Step[]): LoopStep => ({
    ...{ type: 'loop', step_id, name: step_id, max_iterations: 100 },
    body,
  });
  const both = (step_id: string, ...branches: Step[]): Step => ({
    ...{ type: 'parallel', step_id, name: step_id },
    branches: Object.fromEntries(branches.map((step) => [step.step_id, [step]])),
  });

  /** A run whose blocks have ended, each with an output of 3 bytes: by their keys. */
  async function record(steps: Step[], keys: string[]) {
    const { runs, organizationId } = await openAccount(database.db, 0, 1, steps);
    const [callId = ''] = runs;
    for (const blockKey of keys)
      await settle(database.db, { organizationId }, { callId, blockKey, costMicrocredits: 0 });
    const find = (blockKey: string, db = database.db) => {
      const block = listBlocks({ steps }).find(({ step_id }) => step_id === blockKey.split('#')[0]) as Block;
      return findOutputsRead(db, { callId, blockKey }, block, { steps });
    };
    return { find };
  }
  const times = (...stepIds: string[]) =>
    Array.from({ length: ITERATIONS }, (_, index) => stepIds.map((stepId) => `${stepId}#${index}`)).flat();

  it('are looked for and measured in its own iteration alone', async () => {
    const steps = [
      passthrough('list'),
      loop('items', [passthrough('extract'), code('score', 'return outputs.extract')]),
    ];
    const { find } = await record(steps, ['list', ...times('extract', 'score')]);
    assert.equal((await find('score#7')).bytes, 3);
    const read = await countRowsRead(database.url, (db) => find('score#7', db));
    assert.ok(read <= 2, `${read} rows were read`);
  });

  it('are those of steps outside the loop too, of both branches, and of all iterations of a loop inside', async () => {
    const steps = [
      passthrough('list'),
      both('around', passthrough('left'), passthrough('right')),
      loop('items', [
        both('sides', passthrough('a'), passthrough('b')),
        passthrough('cut'),
        loop('parts', [passthrough('part')]),
        code('score', 'return Object.keys(outputs)'),
      ]),
    ];
    const parts = ['part#7.0', 'part#7.1', 'part#7.2', 'part#70.0', 'part#1.7'];
    const { find } = await record(steps, [
      'list',
      'left',
      'right',
      ...times('a', 'b', 'cut', 'score'),
      ...parts,
    ]);
    const { bytes, load } = await find('score#7');
    assert.equal(bytes - OUTPUT_MAX_BYTES, 3 * (3 + 3 + 3));
    const loaded = await load(async () => ['x', 'y', 'z']);
    assert.deepEqual(Object.keys(loaded), ['list', 'around', 'sides', 'cut', 'parts']);
  });
});
