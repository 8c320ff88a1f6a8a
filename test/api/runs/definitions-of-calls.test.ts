// Whatever asks for a call again needs its definition, which the process has.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { callTools } from '../../fakes/model-server.ts';
import { asking, toolCall, useToolCalls } from './tool-calls-harness.ts';

describe('the definition of a call', () => {
  const h = useToolCalls();

  it('is not read again by a repeated request, nor by those who poll its pause', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    h.models.will(callTools([toolCall('c1')]));
    const headers = { 'idempotency-key': 'k' };
    const first = await h.execute(flow, {}, { headers });
    assert.equal(first.body.status, 'tool_calls_required', JSON.stringify(first.body));
    // Whoever reads a definition fails.
    await sql`alter table flow_version rename column definition to hidden`.execute(h.weir.db);
    try {
      assert.deepEqual((await h.execute(flow, {}, { headers })).body, first.body);
      const { status, body } = await h.read(flow, first.body.executionId);
      assert.deepEqual([status, body.toolCalls], [200, first.body.toolCalls], JSON.stringify(body));
    } finally {
      await sql`alter table flow_version rename column hidden to definition`.execute(h.weir.db);
    }
  });
});
