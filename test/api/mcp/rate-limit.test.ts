import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type McpWeir, startMcpWeir } from './mcp-harness.ts';

describe('MCP endpoint under a rate limit', () => {
  let mcp: McpWeir;
  before(async () => {
    mcp = await startMcpWeir({
      worker: false,
      env: { WEIR_RATE_LIMIT_PER_KEY: '2' },
    });
  });
  after(async () => {
    await mcp.stop();
  });

  it('counts each message of a user, whatever token it comes with', async () => {
    const post = async () =>
      fetch(mcp.mcpUrl, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await mcp.token('ada', { jti: randomUUID() })}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      });
    assert.deepEqual([(await post()).status, (await post()).status], [200, 200]);
    const third = await post();
    assert.equal(third.status, 429);
    assert.ok(Number(third.headers.get('retry-after')) > 0);
  });
});
