import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { forLineReaders } from '../../../api/mcp/event-stream.ts';
import { LINE_ENDS, readEvents } from '../../python-lines.ts';
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

  it('is read by line readers that split at more than line feeds', async () => {
    const message = { jsonrpc: '2.0', id: `id${LINE_ENDS}`, method: 'tools/list' };
    const answer = await fetch(mcp.mcpUrl, { method: 'POST', headers, body: JSON.stringify(message) });
    const [event, ...others] = readEvents(await answer.text());
    assert.deepEqual([event?.event, others], ['message', []]);
    assert.equal(JSON.parse(event?.data ?? '').id, message.id);
  });

  it('has no event without data while it stays open: the SDK’s comments end no event', async () => {
    const encoder = new TextEncoder();
    const frames = [': keepalive\n\n', 'event: message\ndata: {"a":":\u2028"}\n\n', ': keepalive\n\n'];
    const sent = ReadableStream.from(
      frames.map((frame) => encoder.encode(frame)),
    ) as ReadableStream<Uint8Array>;
    const events = readEvents(await new Response(forLineReaders(sent)).text());
    assert.deepEqual(events, [{ event: 'message', data: '{"a":":\\u2028"}' }]);
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
