import assert from 'node:assert/strict';
import { PermitRejected } from '../../../platform/limits/fair-queue.ts';
import { passthrough } from '../../blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { useTools } from './tools-harness.ts';

const LARGE_BYTES = 1024 * 1024;

describe('a large message of MCP', () => {
  const { tools } = useTools({ worker: false });

  for (const legacy of [false, true])
    it(`is in hand while its tool waits, and no longer than its answer: ${legacy ? 'an earlier' : 'the current'} revision`, async () => {
      const { connect, token, callTool, weir, tenant } = tools.mcp;
      const path = await weir.createFlow(tenant, [passthrough('a')]);
      const { id: flow_id } = await weir.db
        .selectFrom('flow')
        .select('id')
        .where('slug', '=', path.split('/')[2] as string)
        .executeTakeFirstOrThrow();
      const client = await connect(await token('ada'), { legacy });
      const { bodies } = weir.httpGates;
      const message = 'x'.repeat(LARGE_BYTES);
      const calling = callTool(client, 'run_flow', { flow_id, message }).catch(() => undefined);
      const runs = weir.db.selectFrom('run').select('execution_id').where('flow_id', '=', flow_id);
      await waitUntil(() => runs.executeTakeFirst());
      assert(bodies.count().weight >= LARGE_BYTES);
      await client.close();
      await calling;
      await waitUntil(() => bodies.count().weight === 0);
    });

  it('is 429 with Retry-After while there is no room for it, as all requests are', async () => {
    const { mcpUrl, token, weir } = tools.mcp;
    const { bodies } = weir.httpGates;
    const { acquire } = bodies;
    bodies.acquire = () => Promise.reject(new PermitRejected('deadline', 'key', 2_000));
    try {
      const response = await fetch(mcpUrl, {
        method: 'POST',
        headers: { authorization: `Bearer ${await token('ada')}`, 'content-type': 'application/json' },
        body: JSON.stringify('x'.repeat(LARGE_BYTES)),
      });
      const { detail } = (await response.json()) as { detail?: { code: string } };
      assert.deepEqual([response.status, detail?.code], [429, 'RATE_LIMITED']);
      assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
    } finally {
      bodies.acquire = acquire;
    }
  });
});
