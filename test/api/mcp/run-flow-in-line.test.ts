import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { passthrough } from '../../blocks.ts';
import { lockWaiters } from '../../db/lock-waiters.ts';
import { waitUntil } from '../../wait-until.ts';
import { useTools } from './tools-harness.ts';

/** More than an organization may have in a process at a time. */
const CROWD = 60;
/** Fewer than an organization may have connections to the database. */
const STORING = 10;
/** For so long, and a little less, a user who asked for something leaves the organization fewer connections. */
const PRESENT_MS = 10_500;
/** After a second in line, a caller is let in anew. */
const LONG_MS = 1_200;

describe('run_flow that waits for a place', () => {
  const { tools } = useTools({ worker: false });
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
    meanwhile: (answer: Promise<string>) => Promise<unknown>,
  ): Promise<string> {
    const { weir, tenant, mcpUrl, token } = tools.mcp;
    const bearer = await token('ada');
    await setTimeout(PRESENT_MS);
    const over = new AbortController();
    const execute = (said: string) =>
      post(`${weir.url}/api/v1/seq/${flow}/execute`, tenant.key, { message: said }, over.signal);
    const crowd: Promise<string>[] = [];
    const { answer } = await weir.db.transaction().execute(async (tx) => {
      await sql`lock table run in share mode`.execute(tx);
      for (let caller = 0; caller < CROWD; caller += 1) crowd.push(execute('crowd'));
      await lockWaiters(weir.db, STORING);
      const params = { name: 'run_flow', arguments: { flow_id: flowId, message } };
      const answer = post(mcpUrl, bearer, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, signal);
      await meanwhile(answer);
      crowd.push(execute(`after ${message}`));
      return { answer };
    });
    await waitUntil(async () => (await countStored(`after ${message}`)) === 1);
    over.abort();
    await Promise.all(crowd);
    return answer;
  }

  it('runs nothing when its caller hangs up', async () => {
    const answer = await runInLine('hung up', AbortSignal.timeout(1_000), (answered) => answered);
    assert.equal(answer, 'TimeoutError');
    assert.equal(await countStored('hung up'), 0);
  });

  it('runs nothing when its caller leaves the organization', async () => {
    const { weir, tenant } = tools.mcp;
    const answer = await runInLine('left', AbortSignal.timeout(60_000), async () => {
      await setTimeout(LONG_MS);
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
