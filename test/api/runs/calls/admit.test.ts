import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import type { Client } from '@temporalio/client';
import type { ApiDeps } from '../../../../api/deps.ts';
import type { ApiContext, Route } from '../../../../api/http/context.ts';
import { createOpenRequests } from '../../../../api/http/open-requests.ts';
import { acquireStart, admit, startAdmitted } from '../../../../api/runs/calls/admit.ts';
import type { AcceptedCall } from '../../../../api/runs/calls/store-call.ts';
import { executeRoutes } from '../../../../api/runs/execute.ts';
import { jobRoutes } from '../../../../api/runs/jobs.ts';
import { stepRoutes } from '../../../../api/runs/step.ts';
import type { Updates } from '../../../../api/runs/updates.ts';
import { deleteFlow } from '../../../../db/flows/flows.ts';
import { updateRunsUnderWayMax } from '../../../../db/tenants/limits.ts';
import { suspendOrganization } from '../../../../db/tenants/organizations.ts';
import type { FairQueue, Permit, Priority } from '../../../../platform/limits/fair-queue.ts';
import { createHttpGates } from '../../../../platform/limits/gates.ts';
import { askEngine } from '../../../../temporal/ask-engine.ts';
import { GRPC } from '../../../../temporal/engine-errors.ts';
import { captureLog } from '../../../capture-log.ts';
import { captureMetrics } from '../../../capture-metrics.ts';
import { type Account, openAccount } from '../../../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../../db/test-database.ts';
import { createFullGate } from '../../../full-gate.ts';

describe('a request that was queued for a second', () => {
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
    now = 10_000;
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => {
    mock.restoreAll();
  });

  async function wait(
    principal: object,
    { isRevoked = false, looked = 0, waits = 2_000 } = {},
  ): Promise<object> {
    const gates = {
      runStarts: {
        async acquire() {
          now += waits;
          return { release: () => undefined };
        },
      },
    };
    const apiKeys = { find: async () => ({ revoked_at: isRevoked ? new Date() : null, expires_at: null }) };
    const deps = { db: database.db, gates, apiKeys, config: { ownKeyProviders: {} } };
    const flow = { flowId, organizationId: account.organizationId, foundAt: now - looked };
    const ctx = { state: { flow, principal }, res: new EventEmitter() } as unknown as ApiContext;
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

describe('requests that start a run', () => {
  const never = () => new AbortController().signal;
  const depsOf = (runStarts: FairQueue, stopping?: AbortSignal) =>
    ({ gates: { runStarts }, stopping }) as unknown as ApiDeps;

  /** Admits a request of the route. Returns the priority of its permit; undefined when it needs none. */
  async function askFor(routes: (deps: ApiDeps) => Route[], { lastEventId = '' } = {}) {
    let asked: Priority | undefined;
    const acquire: FairQueue['acquire'] = async (_organization, { priority } = {}) => {
      asked = priority;
      return { release: () => undefined, [Symbol.dispose]: () => undefined };
    };
    const openRequests = createOpenRequests(0);
    const deps = {
      gates: { runStarts: { acquire } },
      openRequests,
      config: { ownKeyProviders: {} },
    };
    const [route] = routes(deps as unknown as ApiDeps);
    const admit = route?.handlers.find(({ name }) => name === 'admit' || name === 'admitCall');
    assert(admit, 'the route has no admission');
    const flow = { organizationId: 'a', foundAt: performance.now() };
    const state = { flow, flowIds: flow };
    const ctx = { state, get: () => lastEventId, res: new EventEmitter() } as unknown as ApiContext;
    await admit(ctx, async () => undefined);
    return asked;
  }
  const steps = (deps: ApiDeps) => stepRoutes(deps, {} as Updates);

  it('let others of their organization go first when nobody waits for the run: jobs', async () => {
    assert.equal(await askFor((deps) => jobRoutes(deps, {} as Updates)), 'low');
    assert.equal(await askFor(executeRoutes), 'high');
    assert.equal(await askFor(steps), 'high');
  });

  it('need a permit, but for readers who come back to a call of /step with Last-Event-ID', async () => {
    const lastEventId = '00000000-0000-4000-8000-000000000000:1';
    assert.equal(await askFor(steps, { lastEventId }), undefined);
  });

  for (const hasWorker of [false, true])
    it(`start at once beside the flood of another organization, with a worker: ${hasWorker}`, async () => {
      const { runStarts } = createHttpGates({ hasWorker, connections: 20 });
      const gone = new AbortController();
      const flood = Array.from({ length: 500 }, () =>
        runStarts.acquire('flood', { signal: gone.signal }).catch(() => undefined),
      );
      const permit = await acquireStart(depsOf(runStarts), 'other', { signal: never() });
      assert.equal(runStarts.count().queued > 400, true);
      permit.release();
      gone.abort();
      await Promise.all(flood);
    });

  it('are rejected beyond 1,000 in the queue of one organization, jobs first', async () => {
    const { runStarts } = createHttpGates({ hasWorker: false, connections: 20 });
    const deps = depsOf(runStarts);
    const gone = new AbortController();
    while (runStarts.tryAcquire('a'));
    const queue = (priority: Priority) =>
      acquireStart(deps, 'a', { signal: gone.signal, priority }).catch(({ code }) => code);
    const job = queue('low');
    const calls = Array.from({ length: 999 }, () => queue('high'));
    await assert.rejects(acquireStart(deps, 'a', { signal: never(), priority: 'low' }), {
      code: 'RATE_LIMITED',
      message: /^Too many runs of this organization wait to be started: try again in \d s\.$/,
    });
    calls.push(queue('high'));
    assert.equal(await job, 'RATE_LIMITED');
    gone.abort();
    assert.deepEqual(new Set(await Promise.all(calls)), new Set(['REQUEST_TIMEOUT']));
    assert.equal(runStarts.count().queued, 0);
  });

  it('are rejected when the requests of all organizations are too many', async () => {
    const queue = createFullGate({ queuedMax: 0 });
    await assert.rejects(acquireStart(depsOf(queue), 'a', { signal: never() }), { code: 'SERVICE_BUSY' });
  });

  it('are rejected when they were queued for too long, and are told when to come again', async () => {
    const queue = createFullGate({ waitMaxMs: 5 });
    const metrics = captureMetrics();
    await assert.rejects(acquireStart(depsOf(queue), 'a', { signal: never() }), {
      code: 'RATE_LIMITED',
      retryAfterSeconds: 2,
      message: 'The run waited 30 s to be started and was not started: try again in 2 s.',
    });
    assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=waiting'], 1);
    metrics.stop();
  });

  it('are told that the process is stopping when they are queued then', async () => {
    const stopping = new AbortController();
    const request = { signal: stopping.signal };
    const waiting = acquireStart(depsOf(createFullGate(), stopping.signal), 'a', request);
    stopping.abort();
    await assert.rejects(waiting, { code: 'SERVICE_STOPPING' });
  });
});

describe('an accepted run that is started', () => {
  let captured: ReturnType<typeof captureLog>;
  beforeEach(() => {
    captured = captureLog();
  });
  afterEach(() => captured.stop());

  it('keeps its permit until the engine has it, and releases it at once while starts fail', async () => {
    let answer: () => Promise<unknown> = () => new Promise(() => undefined);
    const client = { withDeadline: () => answer() };
    const deps = { client, config: {} } as unknown as ApiDeps;
    const run = { from: null, to: null, definition: { steps: [] } } as unknown as AcceptedCall;
    let ends = 0;
    const permit = { release: () => (ends += 1) } as unknown as Permit;
    const countEnds = () => {
      void startAdmitted(deps, run, permit);
      return ends;
    };
    const finish = (engine: typeof answer) => {
      answer = engine;
      return startAdmitted(deps, run, undefined).catch(() => undefined);
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
