import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type McpWeir, startMcpWeir } from './mcp-harness.ts';

describe('streams of the MCP endpoint', () => {
  let mcp: McpWeir;
  let headers: Record<string, string>;
  before(async () => {
    mcp = await startMcpWeir({ worker: false });
    headers = {
      authorization: `Bearer ${await mcp.token('ada')}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    };
  });
  after(() => mcp.stop());

  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD'])
    it(`answers 405 to ${method}: there are no sessions and no streams of the server’s own`, async () => {
      const { status, headers: answered } = await fetch(mcp.mcpUrl, { method, headers });
      assert.equal(status, 405);
      assert.match(answered.get('allow') ?? '', /POST/);
    });

  it('acknowledges a subscription and ends it, since no change is ever notified', async () => {
    const client = await mcp.connect(await mcp.token('ada'));
    const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['test://x'] });
    assert.deepEqual(subscription.honoredFilter, {});
    assert.equal(await subscription.closed, 'graceful');
    await client.close();
  });

  it('closes the connection of a stream when it is asked to, as a process does that stops', async () => {
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const outgoing = request(mcp.mcpUrl, {
      method: 'POST',
      headers: { ...headers, connection: 'close' },
    }).end(message);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    assert.deepEqual(
      [answer.statusCode, answer.headers['content-type'], answer.headers.connection],
      [200, 'text/event-stream', 'close'],
    );
    await once(answer, 'end');
  });
});
