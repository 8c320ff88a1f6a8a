// What a trace reads is in hand while it is made, for as long as its caller waits for it.
import { REQUEST_BYTES_EACH } from '../../../platform/limits/gates.ts';
import { passthrough } from '../../blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { useTools } from './tools-harness.ts';

const LARGE_BYTES = 1024 * 1024;

describe('a trace of large values', () => {
  const { tools } = useTools();
  let flow_run_id: string;
  before(async () => {
    const { weir, tenant } = tools.mcp;
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const body = { message: 'x'.repeat(LARGE_BYTES) };
    const { body: run } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body });
    flow_run_id = run.executionId;
  });

  /** Calls the tool, and hangs up once `isWaiting`. */
  async function leave(name: string, isWaiting: () => boolean): Promise<void> {
    const { mcpUrl, token } = tools.mcp;
    const reader = new AbortController();
    const asked = fetch(mcpUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await token('ada')}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name, arguments: { flow_run_id, ...(name === 'get_step_trace' && { step_id: 'a' }) } },
      }),
      signal: reader.signal,
    });
    asked.catch(() => undefined);
    await waitUntil(isWaiting);
    reader.abort();
  }
  for (const name of ['get_test_run_trace', 'get_step_trace'])
    it(`is not waited for once the caller of ${name} has gone`, async () => {
      const { answers } = tools.mcp.weir.httpGates;
      using _permit = await answers.acquire(tools.mcp.tenant.organizationId, { weight: REQUEST_BYTES_EACH });
      await leave(name, () => answers.count().queued > 0);
      await waitUntil(() => answers.count().queued === 0);
    });
});
