// What a trace reads is in hand while it is made, for as long as its caller waits for it.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { REQUESTS_SHARE_BYTES } from '../../../platform/large-values/large-values.ts';
import { LARGE_BYTES } from '../../../platform/limits/large-work.ts';
import { passthrough } from '../../blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { useTools } from './tools-harness.ts';

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
  /** Waits until a wait has ended; answers why. */
  const whyEnded = async (signal: AbortSignal | undefined) => {
    assert(signal);
    await waitUntil(() => signal.aborted);
    return (signal.reason as Error).name;
  };

  for (const name of ['get_test_run_trace', 'get_step_trace']) {
    it(`is not waited for once the caller of ${name} has gone: not for its bytes`, async () => {
      const { answers } = tools.mcp.weir.largeValues;
      const giveBack = await answers.take(tools.mcp.tenant.organizationId, REQUESTS_SHARE_BYTES);
      const take = mock.method(answers, 'take');
      await leave(name, () => answers.countWaiting() > 0);
      assert.equal(await whyEnded(take.mock.calls.at(-1)?.arguments[2]), 'AbortError');
      take.mock.restore();
      giveBack();
    });

    it(`is not waited for once the caller of ${name} has gone: nor for a turn, and its bytes are given back`, async () => {
      const { answers, work } = tools.mcp.weir.largeValues;
      const endTurn = await work.take('another', LARGE_BYTES);
      const take = mock.method(work, 'take');
      const waiting = () => take.mock.calls.find(({ arguments: [, bytes] }) => bytes >= LARGE_BYTES);
      await leave(name, () => waiting() !== undefined);
      assert.equal(await whyEnded(waiting()?.arguments[2]?.signal), 'AbortError');
      await waitUntil(() => answers.countHeld() === 0);
      take.mock.restore();
      endTurn();
    });
  }
});
