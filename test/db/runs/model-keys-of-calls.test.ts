import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type BlockRun, recordBlockRun } from '../../../db/runs/block-runs.ts';
import { cancelRuns, requestCancel } from '../../../db/runs/run-cancellation.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import {
  reencryptSentKeys,
  requireModelKeysReadable,
  sealModelKeys,
} from '../../../db/tenants/model-keys.ts';
import { deleteProjects } from '../../../db/tenants/projects.ts';
import { cancelLeft } from '../../../db/upkeep/cancel-of-deleted.ts';
import type { RunOutcome } from '../../../flow/run.ts';
import { createEncryption, type EncryptionKey } from '../../../platform/secrets/encrypt.ts';
import { beginSession, openAccount } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const [OLD, NEW] = ['old', 'new'].map((id) => ({ id, key: Buffer.alloc(32, id) })) as [
  EncryptionKey,
  EncryptionKey,
];

describe('the model keys of a call', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const setKeys = async (...callIds: string[]) => {
    for (const callId of callIds)
      await database.db
        .updateTable('run')
        .set({
          model_key_providers: ['demo'],
          model_keys: JSON.stringify(sealModelKeys(createEncryption([OLD]), callId, { demo: 'sk-mine' })),
        })
        .where('execution_id', '=', callId)
        .execute();
  };
  const findKeys = async (callId: string) => {
    const { model_keys } = await database.db
      .selectFrom('run')
      .select('model_keys')
      .where('execution_id', '=', callId)
      .executeTakeFirstOrThrow();
    return model_keys;
  };
  const startCall = async () => {
    const account = await openAccount(database.db, 1_000, 1);
    const callId = account.runs[0] as string;
    await setKeys(callId);
    return { ...account, callId };
  };
  const block = (callId: string): BlockRun => ({
    callId,
    blockKey: 'a',
    stepId: 'a',
    name: 'a',
    processorType: 'passthrough',
    input: { ref: '$message' },
    output: '"x"',
    costMicrocredits: 0,
    attempts: 1,
    startedAt: performance.now(),
  });

  const outcomes: RunOutcome[] = [
    { status: 'completed', result: { ref: 'a' } },
    { status: 'failed', error: { code: 'INTERNAL_ERROR', message: 'failed', reason: 'error' } },
    {
      status: 'tool_calls_required',
      pause: { cursor: 0, blockKey: 'a', toolCalls: [] } as never,
    },
  ];
  for (const outcome of outcomes)
    it(`are cleared when it ends as ${outcome.status}`, async () => {
      const { callId } = await startCall();
      await finishRun(database.db, callId, outcome);
      assert.equal(await findKeys(callId), null);
    });

  it('are cleared when its last block is recorded, and not by an earlier one', async () => {
    const { callId, organizationId } = await startCall();
    await recordBlockRun(database.db, { organizationId }, block(callId));
    assert.notEqual(await findKeys(callId), null);
    const last = { ...block(callId), blockKey: 'b' };
    await recordBlockRun(database.db, { organizationId }, last, { ref: 'b' });
    assert.equal(await findKeys(callId), null);
  });

  it('are cleared when its run is cancelled, alone or among others', async () => {
    const { db } = database;
    const [first, second] = [await startCall(), await startCall()];
    const session = await beginSession(db, first.callId);
    const other = await beginSession(db, second.callId);
    await setKeys(session.callId, other.callId);
    await requestCancel(db, first.callId);
    await requestCancel(db, session.executionId);
    await db.transaction().execute((tx) => cancelRuns(tx, [second.callId, other.executionId]));
    for (const callId of [first.callId, session.callId, second.callId, other.callId])
      assert.equal(await findKeys(callId), null);
  });

  it('are cleared when its project is deleted', async () => {
    const { callId, organizationId } = await startCall();
    const projectIds = await database.db.transaction().execute((tx) => deleteProjects(tx, organizationId));
    await cancelLeft(database.db, { projectIds });
    assert.equal(await findKeys(callId), null);
  });

  it('cannot stay in the row of a call that has ended', async () => {
    const { callId } = await startCall();
    const update = database.db
      .updateTable('run')
      .set({ status: 'failed', finished_at: new Date() })
      .where('execution_id', '=', callId)
      .execute();
    await assert.rejects(update, { constraint: 'run_model_keys_while_needed' });
  });

  it('are encrypted again under a new key, bound to the call as before', async () => {
    const { callId } = await startCall();
    const ended = await startCall();
    await finishRun(database.db, ended.callId, { status: 'completed', result: { ref: 'a' } });
    await reencryptSentKeys(database.db, createEncryption([NEW, OLD]));
    const location = (id: string) => `run/${id}/model_key/demo`;
    const { demo = '' } = (await findKeys(callId)) ?? {};
    const encryption = createEncryption([NEW]);
    assert.equal(encryption.decrypt(demo, location(callId)), 'sk-mine');
    assert.throws(() => encryption.decrypt(demo, location(randomUUID())));
    assert.equal(await findKeys(ended.callId), null);
    await requireModelKeysReadable(database.db, encryption);
    await assert.rejects(requireModelKeysReadable(database.db, createEncryption([OLD])), /key new/);
  });
});
