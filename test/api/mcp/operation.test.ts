import assert from 'node:assert/strict';
import { readDocument } from '../reference/read-document.ts';
import { type McpWeir, startMcpWeir } from './mcp-harness.ts';

describe('the MCP endpoint in the API reference', () => {
  let mcp: McpWeir;
  before(async () => {
    mcp = await startMcpWeir({ worker: false });
    await mcp.join('ada', 'owner');
  });
  after(() => mcp.stop());

  const describeMcp = async () => {
    const document = await readDocument<Document>(mcp.weir.url);
    return { ...document, mcp: document.paths['/api/v1/mcp']?.post ?? assert.fail() };
  };

  it('takes tokens issued for MCP alone, by a security scheme of its own', async () => {
    const document = await describeMcp();
    assert.deepEqual(document.mcp.security, [{ mcpJwt: [] }]);
    assert.match(document.components.securitySchemes.mcpJwt?.description ?? '', /issued for MCP/);
  });

  it('has the 401s and 403s that are answered, that of a missing scope too', async () => {
    const { responses } = (await describeMcp()).mcp;
    const examples = ['401', '403'].flatMap((status) =>
      Object.values(responses[status]?.content['application/json'].examples ?? {}).map(({ value }) => value),
    );
    const send = async (headers: Record<string, string>) => {
      const response = await fetch(mcp.mcpUrl, {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(CREATE),
      });
      return response.json();
    };
    const reads = await mcp.token('ada', { scope: 'flows:read' });
    assert.deepEqual(examples, [
      await send({}),
      await send({ authorization: `Bearer ${mcp.tenant.key}` }),
      await send({ origin: 'https://evil.test' }),
      await send({ authorization: `Bearer ${reads}` }),
    ]);
  });
});

const CREATE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'create_flow', arguments: {} },
};

type Examples = { [name: string]: { value: unknown } };
type Responses = { [status: string]: { content: { 'application/json': { examples: Examples } } } };
type Document = {
  paths: { [path: string]: { post: { security: object[]; responses: Responses } } };
  components: { securitySchemes: { [name: string]: { description: string } } };
};
