import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { passthrough } from '../../blocks.ts';
import { lockWaiters } from '../../db/lock-waiters.ts';
import { waitUntil } from '../../wait-until.ts';
import { useTools } from './tools-harness.ts';

/** More than an organization may have in a process at a time. */
const CROWD = 60;
/** Fewer than an organization may have connections to the database. */
const STORING = 10;

describe('run_flow of a caller that hangs up while it waits for a place', () => {
  const { tools } = useTools({ worker: false });

  it('runs nothing', async () => {
    const { weir, tenant, mcpUrl, token } = tools.mcp;
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const { id: flow_id } = await weir.db
      .selectFrom('flow')
      .select('id')
      .where('slug', '=', flow.split('/')[2] as string)
      .executeTakeFirstOrThrow();
    const stored = async (message: string) => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from run where input->>'message' = ${message}`.execute(weir.db);
      return rows[0]?.count;
    };
    const post = (url: string, bearer: string, body: object, signal: AbortSignal) =>
      fetch(url, {
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
    const over = new AbortController();
    const execute = (message: string) =>
      post(`${weir.url}/api/v1/seq/${flow}/execute`, tenant.key, { message }, over.signal);
    const bearer = await token('ada');
    const crowd: Promise<string>[] = [];
    await weir.db.transaction().execute(async (tx) => {
      await sql`lock table run in share mode`.execute(tx);
      for (let caller = 0; caller < CROWD; caller += 1) crowd.push(execute('crowd'));
      // They have taken all places by then.
      await lockWaiters(weir.db, STORING);
      const params = { name: 'run_flow', arguments: { flow_id, message: 'hung up' } };
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      assert.equal(await post(mcpUrl, bearer, call, AbortSignal.timeout(1_000)), 'TimeoutError');
      crowd.push(execute('last'));
    });
    await waitUntil(async () => (await stored('last')) === 1);
    assert.equal(await stored('hung up'), 0);
    over.abort();
    await Promise.all(crowd);
  });
});
