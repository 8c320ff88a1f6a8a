import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Client } from '@temporalio/client';
import type { ApiDeps } from '../../../../api/deps.ts';
import type { ApiContext, Route } from '../../../../api/http/context.ts';
import { admit, startInPlace } from '../../../../api/runs/calls/admit.ts';
import type { AcceptedCall } from '../../../../api/runs/calls/store-call.ts';
import { executeRoutes } from '../../../../api/runs/execute.ts';
import { jobRoutes } from '../../../../api/runs/jobs.ts';
import { stepRoutes } from '../../../../api/runs/step.ts';
import type { Updates } from '../../../../api/runs/updates.ts';
import { deleteFlow } from '../../../../db/flows/flows.ts';
import { updateRunsUnderWayMax } from '../../../../db/tenants/limits.ts';
import { suspendOrganization } from '../../../../db/tenants/organizations.ts';
import { createPresence } from '../../../../platform/limits/presence.ts';
import { askEngine } from '../../../../temporal/ask-engine.ts';
import { GRPC } from '../../../../temporal/engine-errors.ts';
import { captureLog } from '../../../capture-log.ts';
import { type Account, openAccount } from '../../../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../../db/test-database.ts';

describe('a request that has waited in line for a second', () => {
  let database: TestDatabase;
  let account: Account;
  let flowId: string;
  before(async () => {
    database = await createTestDatabase();
    account = await openAccount(database.db, 0, 0);
    ({ id: flowId } = await database.db.selectFrom('flow').select('id').executeTakeFirstOrThrow());
  });
  after(() => database.drop());
  let now: number;
  beforeEach(() => {
    now = performance.now();
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => {
    mock.restoreAll();
  });

  async function wait(
    principal: object,
    { isRevoked = false, looked = 0, waits = 2_000 } = {},
  ): Promise<object> {
    const admission = {
      async enter() {
        now += waits;
        return { end: () => undefined, holdFor: () => undefined };
      },
    };
    const apiKeys = { find: async () => ({ revoked_at: isRevoked ? new Date() : null, expires_at: null }) };
    const largeValues = { presence: createPresence() };
    const deps = { db: database.db, admission, apiKeys, largeValues, config: { providerUrls: {} } };
    const flow = { flowId, organizationId: account.organizationId, foundAt: now - looked };
    const ctx = { state: { flow, principal } } as unknown as ApiContext;
    await admit(deps as unknown as ApiDeps)(ctx, async () => undefined);
    return flow;
  }
  const key = { kind: 'key', key: { key_id: 'AAAAAAAA' } };

  const user = { kind: 'user', userId: 'gone', expiresAt: new Date(Date.now() + 3_600_000) };

  it('is refused when its key was revoked, its token expired or its user left meanwhile', async () => {
    await assert.rejects(wait(key, { isRevoked: true }), { code: 'UNAUTHENTICATED' });
    await assert.rejects(wait({ ...user, expiresAt: new Date() }), { code: 'UNAUTHENTICATED' });
    await assert.rejects(wait(user), { code: 'FLOW_NOT_FOUND' });
  });

  it('is under the quota of runs that was set meanwhile', async () => {
    await updateRunsUnderWayMax(database.db, account.organizationId, 7);
    assert.partialDeepStrictEqual(await wait(key), { runsUnderWayMax: 7 });
  });

  it('is of a suspended organization when that was suspended meanwhile, also while its body arrived', async () => {
    const { organizationId } = account;
    await database.db.transaction().execute((tx) => suspendOrganization(tx, organizationId, 'why'));
    const suspended = { suspensionReason: 'why' };
    assert.partialDeepStrictEqual(await wait(key), suspended);
    assert.partialDeepStrictEqual(await wait(key, { looked: 2_000, waits: 0 }), suspended);
  });

  it('is refused when its flow was deleted meanwhile', async () => {
    await database.db.transaction().execute((tx) => deleteFlow(tx, flowId));
    await assert.rejects(wait(key), { code: 'FLOW_NOT_FOUND' });
  });
});

describe('requests that begin a run', () => {
  /** Admits a request of the route and returns how it asks for a place; undefined when it needs none. */
  async function askFor(routes: (deps: ApiDeps) => Route[], { lastEventId = '', bytes = 0 } = {}) {
    let asked: Parameters<ApiDeps['admission']['enter']>[2];
    const admission: ApiDeps['admission'] = {
      async enter(_organization, _createSignal, options) {
        asked = options;
        return { end: () => undefined, holdFor: () => undefined };
      },
    };
    const largeValues = { presence: createPresence() } as ApiDeps['largeValues'];
    const [route] = routes({ admission, largeValues, config: { providerUrls: {} } } as ApiDeps);
    const admit = route?.handlers.find(({ name }) => name === 'admit');
    assert(admit, 'the route has no admission');
    const received = Promise.resolve({ bytes: Buffer.alloc(bytes) });
    const state = { flow: { organizationId: 'a' }, received };
    const ctx = { state, get: () => lastEventId } as unknown as ApiContext;
    await admit(ctx, async () => undefined);
    return asked;
  }
  const steps = (deps: ApiDeps) => stepRoutes(deps, {} as Updates);

  it('let others of their organization go first when nobody waits for the run: jobs', async () => {
    const isPatient = async (routes: (deps: ApiDeps) => Route[]) => (await askFor(routes))?.patient ?? false;
    assert.equal(await isPatient((deps) => jobRoutes(deps, {} as Updates)), true);
    assert.equal(await isPatient(executeRoutes), false);
    assert.equal(await isPatient(steps), false);
  });

  it('wait for a place, and readers who come back to a call of /step with Last-Event-ID do not', async () => {
    const lastEventId = '00000000-0000-4000-8000-000000000000:1';
    assert.equal(await askFor(steps, { lastEventId }), undefined);
  });

  it('wait with the bytes of their body, unless it is large and has taken its bytes before', async () => {
    assert.equal((await askFor(executeRoutes, { bytes: 65_535 }))?.bytes, 65_535);
    assert.equal((await askFor(executeRoutes, { bytes: 65_536 }))?.bytes, 0);
  });
});

describe('an accepted run that is started', () => {
  let captured: ReturnType<typeof captureLog>;
  beforeEach(() => {
    captured = captureLog();
  });
  afterEach(() => captured.stop());

  it('keeps its place until the engine has it, and gives it back at once while starts fail', async () => {
    let answer: () => Promise<unknown> = () => new Promise(() => undefined);
    const client = { withDeadline: () => answer() };
    const deps = { client, config: {} } as unknown as ApiDeps;
    const run = { from: null, to: null, definition: { steps: [] } } as unknown as AcceptedCall;
    let ends = 0;
    const place = { end: () => (ends += 1), holdFor: () => undefined };
    const countEnds = () => {
      void startInPlace(deps, run, place);
      return ends;
    };
    const finish = (engine: typeof answer) => {
      answer = engine;
      return startInPlace(deps, run, undefined).catch(() => undefined);
    };
    const refuse = (code: number) => async () => {
      throw Object.assign(new Error('refused'), { code, details: '', metadata: {} });
    };
    const pend = answer;
    const countEndsLater = () => {
      answer = pend;
      return countEnds();
    };
    assert.equal(countEnds(), 0);
    await finish(refuse(GRPC.resourceExhausted));
    assert.equal(countEndsLater(), 0);
    await finish(refuse(GRPC.unavailable));
    // An engine that cannot start workflows may answer other questions.
    await askEngine({ withDeadline: async () => 'an answer' } as unknown as Client, async () => undefined);
    assert.equal(countEndsLater(), 1);
    await finish(async () => ({ eagerlyStarted: true }));
    assert.equal(countEndsLater(), 1);
  });
});
