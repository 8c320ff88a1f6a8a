import assert from 'node:assert/strict';
import { tooManyLarge } from '../../../api/http/take-bytes.ts';
import { LARGE_BYTES } from '../../../platform/limits/large-work.ts';
import { passthrough } from '../../blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { useTools } from './tools-harness.ts';

describe('a large message of MCP', () => {
  const { tools } = useTools({ worker: false });

  /** Counts the turns at large work that are under way, until `stop`. */
  function watchTurns() {
    const { work } = tools.mcp.weir.largeValues;
    const { take } = work;
    const stop = () => {
      work.take = take;
    };
    const watched = { underWay: 0, begun: 0, stop };
    work.take = async (owner, bytes, options) => {
      const end = await take(owner, bytes, options);
      if (bytes < LARGE_BYTES) return end;
      watched.begun += 1;
      watched.underWay += 1;
      let isOver = false;
      return () => {
        if (!isOver) watched.underWay -= 1;
        isOver = true;
        end();
      };
    };
    return watched;
  }

  for (const legacy of [false, true])
    it(`is in hand while its tool waits, without a turn, and no longer than its answer: ${legacy ? 'an earlier' : 'the current'} revision`, async () => {
      const { connect, token, callTool, weir, tenant } = tools.mcp;
      const path = await weir.createFlow(tenant, [passthrough('a')]);
      const { id: flow_id } = await weir.db
        .selectFrom('flow')
        .select('id')
        .where('slug', '=', path.split('/')[2] as string)
        .executeTakeFirstOrThrow();
      const client = await connect(await token('ada'), { legacy });
      const { bodies } = weir.largeValues;
      const turns = watchTurns();
      try {
        const message = 'x'.repeat(LARGE_BYTES);
        const calling = callTool(client, 'run_flow', { flow_id, message }).catch(() => undefined);
        const runs = weir.db.selectFrom('run').select('execution_id').where('flow_id', '=', flow_id);
        await waitUntil(() => runs.executeTakeFirst());
        assert(bodies.countHeld() >= LARGE_BYTES);
        assert.deepEqual([turns.begun, turns.underWay], [2, 0]);
        await client.close();
        await calling;
        await waitUntil(() => bodies.countHeld() === 0);
      } finally {
        turns.stop();
      }
    });

  it('is 429 with Retry-After while there is no room for it, as all requests are', async () => {
    const { mcpUrl, token, weir } = tools.mcp;
    const { bodies } = weir.largeValues;
    const { take } = bodies;
    bodies.take = () => Promise.reject(tooManyLarge());
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
      bodies.take = take;
    }
  });
});
