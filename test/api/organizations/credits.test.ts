// What an organization has, and its ledger, over HTTP.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { grantCredits } from '../../../db/credits/ledger.ts';
import { reserveCredits } from '../../../db/credits/reservations.ts';
import { getVersion } from '../../../db/flows/versions.ts';
import { insertCalls } from '../../../db/runs/insert-calls.ts';
import { settle } from '../../db/credits/ledger-fixture.ts';
import { code, useManagement } from './management-harness.ts';

describe('credits over HTTP', () => {
  const { management, call } = useManagement();
  const path = () => `/organizations/${management.acme.organizationId}/credits`;

  /** Accepts a run, or with `continues` a call that goes on with one; returns the call's id. */
  async function accept(continues?: string): Promise<string> {
    const { organizationId, projectId, flowId } = management.acme;
    const { id: flowVersionId } = await getVersion(management.weir.db, flowId, 1);
    const callId = randomUUID();
    await insertCalls(management.weir.db, [
      {
        callId,
        organizationId,
        projectId,
        flowId,
        flowVersionId,
        mode: 'jobs',
        environment: 'live',
        input: { message: '', parameters: {}, block_overrides: {} },
        ...(continues && { continues: { executionId: continues, from: 0, to: 1, concludes: true } }),
      },
    ]);
    return callId;
  }

  const charge = (callId: string, blockKey: string, costMicrocredits: number) =>
    settle(management.weir.db, management.acme, { callId, blockKey, costMicrocredits });

  it('are a balance, with what is reserved of it', async () => {
    const { organizationId } = management.acme;
    const account = { organizationId, balance: 1000, reserved: 0, lowBalanceMark: null, low: false };
    assert.deepEqual((await call('GET', path())).body, account);
    const callId = await accept();
    const block = { callId, blockKey: 'a', organizationId };
    await reserveCredits(management.weir.db, { ...block, microcredits: 1_500_000 });
    assert.deepEqual((await call('GET', path())).body, { ...account, reserved: 1.5 });
  });

  it('are low below a mark, which the audit log says once each time the balance falls below it', async () => {
    const { body } = await call('PUT', path(), { low_balance_mark: 999.5 });
    assert.deepEqual([body.lowBalanceMark, body.low], [999.5, false]);
    const callId = await accept();
    await charge(callId, 'first', 500_000);
    assert.equal((await call('GET', path())).body.low, false);
    for (const blockKey of ['second', 'third']) await charge(callId, blockKey, 1);
    assert.equal((await call('GET', path())).body.low, true);
    await grantCredits(management.weir.db, management.acme.organizationId, 500_000, 'grant/again');
    await charge(callId, 'fourth', 500_001);
    const log = `/organizations/${management.acme.organizationId}/audit-log?action=credits.low`;
    const { entries } = (await call('GET', log)).body;
    assert.deepEqual(
      entries.map(({ actor, details }: { actor: string; details: object }) => ({ actor, details })),
      [999.499997, 999.499999].map((credits) => ({
        actor: 'service',
        details: { credits, low_balance_mark: 999.5 },
      })),
    );
  });

  it('have no mark once null is set, and a PUT of the same mark is in no log', async () => {
    for (const mark of [5, 5, null]) {
      const { status, body } = await call('PUT', path(), { low_balance_mark: mark });
      assert.deepEqual([status, body.lowBalanceMark], [200, mark]);
    }
    const log = `/organizations/${management.acme.organizationId}/audit-log?action=credits.update`;
    assert.deepEqual(
      (await call('GET', log)).body.entries.map(({ details }: { details: object }) => details),
      [{ low_balance_mark: null }, { low_balance_mark: 5 }],
    );
  });

  for (const body of [{}, { low_balance_mark: 0 }, { low_balance_mark: -1 }, { low_balance_mark: 1e10 }])
    it(`refuse ${JSON.stringify(body)} as a mark`, async () => {
      assert.deepEqual(code(await call('PUT', path(), body)), [422, 'VALIDATION_ERROR']);
    });

  describe('in the ledger', () => {
    const list = async (query = '') => (await call('GET', `${path()}/ledger${query}`)).body;
    type Entry = { id: string; credits: number; kind: string; at: string };
    const credits = (entries: Entry[]) => entries.map((entry) => entry.credits);

    it('are grants and charges, newest first, page by page, whose sum is the balance', async () => {
      const callId = await accept();
      for (const cost of [1, 2, 3]) await charge(callId, `block-${cost}`, cost * 1_000_000);
      const seen: Entry[] = [];
      for (let cursor = ''; ; ) {
        const { entries, hasMore, nextCursor } = await list(`?limit=3${cursor && `&cursor=${cursor}`}`);
        seen.push(...entries);
        assert.equal(hasMore, nextCursor !== null);
        if (!nextCursor) break;
        cursor = nextCursor;
      }
      assert.deepEqual(credits(seen), [-3, -2, -1, 1000]);
      assert.equal((await call('GET', path())).body.balance, 994);
      const { id: _, at: __, ...newest } = seen[0] as Entry;
      assert.deepEqual(newest, {
        kind: 'charge',
        credits: -3,
        executionId: callId,
        block: 'block-3',
        key: null,
        model: null,
        tokens: null,
      });
      const { id: _id, at: _at, ...oldest } = seen[3] as Entry;
      const none = { executionId: null, block: null, model: null, tokens: null };
      assert.deepEqual(oldest, { kind: 'grant', credits: 1000, ...none, key: 'test' });
    });

    it('have the model that was charged, and its tokens', async () => {
      const block = { blockKey: 'ask', costMicrocredits: 5, model: 'demo/chat', promptTokens: 10 };
      const tokens = { cachedTokens: 8, cacheWriteTokens: 1, completionTokens: 7, reasoningTokens: 6 };
      await settle(management.weir.db, management.acme, { callId: await accept(), ...block, ...tokens });
      const [newest] = (await list()).entries;
      assert.deepEqual([newest.model, newest.tokens], ['demo/chat', { promptTokens: 10, ...tokens }]);
    });

    it('are found by kind, by time and by run, all calls of the run included', async () => {
      const run = await accept();
      await charge(run, 'a', 1_000_000);
      const resumed = await accept(run);
      await charge(resumed, 'b', 2_000_000);
      await charge(await accept(), 'c', 3_000_000);
      assert.deepEqual(credits((await list('?kind=grant')).entries), [1000]);
      assert.deepEqual(credits((await list('?kind=charge')).entries), [-3, -2, -1]);
      const ofRun = await list(`?execution_id=${run}`);
      assert.deepEqual(credits(ofRun.entries), [-2, -1]);
      for (const { executionId } of ofRun.entries) assert.equal(executionId, run);
      await management.weir.db
        .updateTable('ledger_entry')
        .set({ created_at: new Date('2020-01-01') })
        .where('execution_id', '=', run)
        .execute();
      assert.deepEqual(credits((await list('?before=2020-01-02')).entries), [-1]);
      assert.deepEqual(credits((await list('?since=2020-01-02&kind=charge')).entries), [-3, -2]);
    });

    it('are none of another organization’s, by its run or a cursor of it', async () => {
      const callId = await accept();
      await charge(callId, 'a', 1_000_000);
      const [newest] = (await list()).entries;
      const { organizationId } = await management.weir.createTenant();
      const { users } = management.acme;
      await management.weir.db
        .insertInto('membership')
        .values({ organization_id: organizationId, user_id: users.owner, role: 'owner' })
        .execute();
      for (const query of [`execution_id=${callId}`, `cursor=${newest.id}`]) {
        const { body } = await call('GET', `/organizations/${organizationId}/credits/ledger?${query}`);
        assert.deepEqual(body, { entries: [], hasMore: false, nextCursor: null }, query);
      }
    });

    for (const query of [
      'kind=x',
      'execution_id=x',
      'cursor=x',
      'cursor=9999999999999999999',
      'limit=0',
      'x=1',
    ])
      it(`refuse ?${query} with 422`, async () => {
        assert.deepEqual(code(await call('GET', `${path()}/ledger?${query}`)), [422, 'VALIDATION_ERROR']);
      });
  });
});
