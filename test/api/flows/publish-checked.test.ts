import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { publishChecked } from '../../../api/flows/recorded-flow-writes.ts';
import { insertFlow, updateDraft } from '../../../db/flows/flows.ts';
import { getVersion, lockDraft, publishVersion } from '../../../db/flows/versions.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import type { LargeValues } from '../../../platform/large-values/large-values.ts';
import { createFairQueue } from '../../../platform/limits/fair-queue.ts';
import { REQUEST_BYTES_WAIT_MS } from '../../../platform/limits/gates.ts';
import { passthrough } from '../../blocks.ts';
import { type Account, openAccount } from '../../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { waitUntil } from '../../wait-until.ts';

const draftOf = (stepId: string): FlowDefinition => ({ steps: [passthrough(stepId)] });
const nameOf = ({ steps }: FlowDefinition) => steps[0]?.step_id ?? '';

describe('publishing a draft that is checked', () => {
  const definitions = createFairQueue({ capacity: 4, perKeyMax: 1 });
  const largeValues = { definitions } as unknown as LargeValues;
  let database: TestDatabase;
  let account: Account;
  before(async () => {
    database = await createTestDatabase();
    account = await openAccount(database.db, 0, 0);
  });
  after(() => database.drop());
  afterEach(() => {
    mock.restoreAll();
  });

  async function createFlow(stepId: string): Promise<string> {
    const { id: projectId } = await database.db.selectFrom('project').select('id').executeTakeFirstOrThrow();
    const slug = `flow-${crypto.randomUUID().slice(0, 8)}`;
    const { id } = await insertFlow(database.db, {
      projectId,
      slug,
      name: slug,
      definition: draftOf(stepId),
    });
    return id;
  }

  function publish(
    id: string,
    check: (draft: FlowDefinition) => Promise<void>,
    { gone = new AbortController().signal, organizationId = account.organizationId } = {},
  ): Promise<number> {
    const { db } = database;
    return publishChecked({ db, largeValues }, { id, organizationId }, gone, {
      hold: async () => undefined,
      check,
      publish: (checked) =>
        db.transaction().execute(async (tx) => {
          await lockDraft(tx, id, checked);
          return publishVersion(tx, id, 'note');
        }),
    });
  }

  it('publishes no draft that was not checked, although the draft changed meanwhile', async () => {
    const id = await createFlow('a');
    const drafts = ['b', 'c'];
    const checked: string[] = [];
    const version = await publish(id, async (draft) => {
      checked.push(nameOf(draft));
      const next = drafts.shift();
      if (next) await database.db.transaction().execute((tx) => updateDraft(tx, id, draftOf(next)));
    });
    assert.deepEqual([checked, version], [['a', 'b', 'c'], 1]);
    assert.equal(nameOf((await getVersion(database.db, id, 1)).definition), 'c');
    const wrong = publish(id, () => Promise.reject(new Error('wrong')));
    await assert.rejects(wrong, /wrong/);
  });

  it('checks one draft of an organization at a time, and others meanwhile', async () => {
    const [own, other] = [await createFlow('own'), await createFlow('other')];
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    const checks = (name: string) => async () => void order.push(name);
    const publishing = publish(own, () => first.promise);
    const second = publish(own, checks('second'));
    await publish(other, checks('other'), { organizationId: 'another' });
    first.resolve();
    assert.deepEqual(await Promise.all([publishing, second]), [1, 2]);
    assert.deepEqual(order, ['other', 'second']);
  });

  it('leaves the queue when its caller has gone, or the permit does not come in time', async () => {
    const id = await createFlow('a');
    const checking = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const first = publish(id, () => {
      began.resolve();
      return checking.promise;
    });
    await began.promise;
    const neverChecked = () => assert.fail('it was checked');
    const isQueued = () => waitUntil(() => definitions.count().queued === 1);
    const caller = new AbortController();
    const left = publish(id, neverChecked, { gone: caller.signal });
    await Promise.all([
      isQueued().then(() => caller.abort()),
      assert.rejects(left, { code: 'REQUEST_TIMEOUT' }),
    ]);
    const late = new AbortController();
    // The services that other files have left in this process wait in time, too.
    const { timeout } = AbortSignal;
    mock.method(AbortSignal, 'timeout', (ms: number) =>
      ms === REQUEST_BYTES_WAIT_MS ? late.signal : timeout.call(AbortSignal, ms),
    );
    const refused = publish(id, neverChecked);
    await Promise.all([
      isQueued().then(() => late.abort()),
      assert.rejects(refused, { code: 'RATE_LIMITED' }),
    ]);
    checking.resolve();
    assert.equal(await first, 1);
  });
});
