import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { TOOL_WAIT_MS } from '../../../api/test-cases/run-tests.ts';
import { passthrough } from '../../blocks.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { waitUntil } from '../../wait-until.ts';
import { useTools } from './tools-harness.ts';

/** More than an organization may have in a process at a time. */
const CROWD = 20 * availableParallelism();
/** More than there are places: who waits for the lock of a table leaves connections to those who come later. */
const CONNECTIONS = '60';
/** For so long, and a little less, a user who asked for something leaves the organization fewer connections. */
const PRESENT_MS = 10_500;
/** A request that is held up keeps its place for so long. */
const HELD_MAX_MS = 1_000;
/** A request, or one of its statements, that waits so long is refused: on a slow machine, the crowd takes as long to come. */
const WAIT_MAX_MS = 10_000;
/** Longer than the tests. */
const NEVER_MS = 2 ** 30;
/** After a second in line, a caller is let in anew. */
const LONG_MS = 1_200;

describe('run_flow that waits for a place', () => {
  const { tools } = useTools({ worker: false, env: { WEIR_DATABASE_CONNECTIONS: CONNECTIONS } });
  let flow: string;
  let flowId: string;
  before(async () => {
    const { weir, tenant } = tools.mcp;
    flow = await weir.createFlow(tenant, [passthrough('a')]);
    const { id } = await weir.db
      .selectFrom('flow')
      .select('id')
      .where('slug', '=', flow.split('/')[2] as string)
      .executeTakeFirstOrThrow();
    flowId = id;
  });

  /** Ends the time that a tool waits, for those that have begun to. */
  let toolWait: AbortController | undefined;
  afterEach(() => {
    mock.restoreAll();
    toolWait = undefined;
  });

  /** Has requests wait, and keep their places until they have been stored, so that it can be counted how many have come for one. */
  function keepPlaces() {
    const { setTimeout } = globalThis;
    mock.method(globalThis, 'setTimeout', (end: () => void, ms: number, ...given: []) =>
      setTimeout(end, ms === HELD_MAX_MS ? NEVER_MS : ms, ...given),
    );
    const { timeout } = AbortSignal;
    mock.method(AbortSignal, 'timeout', (ms: number) => {
      if (ms === TOOL_WAIT_MS && toolWait) return AbortSignal.any([toolWait.signal]);
      return timeout.call(AbortSignal, ms < WAIT_MAX_MS ? ms : NEVER_MS);
    });
  }

  async function countStored(message: string): Promise<number | undefined> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from run where input->>'message' = ${message}`.execute(tools.mcp.weir.db);
    return rows[0]?.count;
  }

  function post(url: string, bearer: string, body: object, signal: AbortSignal): Promise<string> {
    return fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
      },
      body: JSON.stringify(body),
      signal,
    }).then(
      (response) => response.text(),
      (error: Error) => error.name,
    );
  }

  /**
   * Calls run_flow behind a crowd that has taken all places, does `meanwhile`, and lets the crowd go on until a request that
   * came later has been stored. Returns the answer to run_flow, or the name of its error.
   */
  async function runInLine(
    message: string,
    signal: AbortSignal,
    meanwhile: () => Promise<unknown>,
  ): Promise<string> {
    const { weir, tenant, mcpUrl, token } = tools.mcp;
    const bearer = await token('ada');
    await sleep(PRESENT_MS);
    const metrics = captureMetrics();
    /** Counts who has a place or waits for one, in all services of this process. */
    const countInLine = async () => {
      const underWay = (await metrics.read('weir.gate.permits'))['gate=run_starts'] ?? 0;
      const waiting = (await metrics.read('weir.gate.queued'))['gate=run_starts'] ?? 0;
      return underWay + waiting;
    };
    const others = await countInLine();
    const areInLine = (count: number) => waitUntil(async () => (await countInLine()) >= others + count);
    keepPlaces();
    const over = new AbortController();
    const execute = (said: string) =>
      post(`${weir.url}/api/v1/seq/${flow}/execute`, tenant.key, { message: said }, over.signal);
    const crowd: Promise<string>[] = [];
    const { answer } = await weir.db.transaction().execute(async (tx) => {
      await sql`lock table run in share mode`.execute(tx);
      for (let caller = 0; caller < CROWD; caller += 1) crowd.push(execute('crowd'));
      await areInLine(CROWD);
      const params = { name: 'run_flow', arguments: { flow_id: flowId, message } };
      const answer = post(mcpUrl, bearer, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, signal);
      await areInLine(CROWD + 1);
      await meanwhile();
      crowd.push(execute(`after ${message}`));
      return { answer };
    });
    await waitUntil(async () => (await countStored(`after ${message}`)) === 1);
    over.abort();
    await Promise.all(crowd);
    await waitUntil(async () => (await countInLine()) <= others);
    metrics.stop();
    return answer;
  }

  it('runs nothing when its caller hangs up', async () => {
    const caller = new AbortController();
    const answer = await runInLine('hung up', caller.signal, async () => caller.abort());
    assert.equal(answer, 'AbortError');
    assert.equal(await countStored('hung up'), 0);
  });

  it('answers how its run stands when the time is up that began before it was in line', async () => {
    toolWait = new AbortController();
    const answer = await runInLine('waited long', new AbortController().signal, async () => {
      toolWait?.abort();
      // A time that begins only now is not over.
      toolWait = undefined;
    });
    assert.match(answer, /"status":"started"/);
    assert.equal(await countStored('waited long'), 1);
  });

  it('runs nothing when its caller leaves the organization', async () => {
    const { weir, tenant } = tools.mcp;
    const answer = await runInLine('left', new AbortController().signal, async () => {
      await sleep(LONG_MS);
      await weir.db
        .deleteFrom('membership')
        .where('organization_id', '=', tenant.organizationId)
        .where('user_id', '=', 'ada')
        .execute();
    });
    assert.match(answer, /FLOW_NOT_FOUND.*"isError":true/);
    assert.equal(await countStored('left'), 0);
  });
});
