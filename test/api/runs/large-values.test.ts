// A large value that a few bytes of a flow or request multiply into fails where it is made; it is never built for a reader.

import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { OUTPUT_MAX_BYTES, OUTPUTS_READ_MAX_BYTES } from '../../../flow/limits.ts';
import { code, llm } from '../../blocks.ts';
import { answer, type FakeModelServer } from '../../fakes/model-server.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { readMessages } from '../../sse.ts';

describe('values that multiply', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: FakeModelServer;
  before(async () => {
    models = (await getSharedWeir()).models;
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
  });

  const loop = (answers: string): Step[] => [
    code('list', 'return Array.from({ length: 20 }, (_, i) => i);'),
    {
      type: 'loop',
      step_id: 'each',
      name: 'each',
      max_iterations: 20,
      body: [code('item', `return ${answers};`)],
    },
  ];

  it('fails a loop whose outputs are too large together, at that iteration, and its poll is small', async () => {
    const flow = await weir.createFlow(tenant, loop(`"x".repeat(${Math.floor(OUTPUT_MAX_BYTES * 0.6)})`));
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: '' } });
    assert.equal(body.status, 'failed');
    assert.match(body.errorMessage, /^The outputs of each together have more than 4194304 bytes/);
    assert.deepEqual(
      body.blocks.map(({ key }: { key: string }) => key),
      ['list', 'item#0', 'item#1'],
    );
    const polled = await weir.call('GET', `${flow}/jobs/${body.executionId}`, { key: tenant.key });
    assert.deepEqual([polled.status, polled.body.status, polled.body.result], [200, 'failed', undefined]);
  });

  it('answers, polls and streams a composed result just under the limit', async () => {
    const flow = await weir.createFlow(tenant, loop(`"x".repeat(${Math.floor(OUTPUT_MAX_BYTES / 20) - 10})`));
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: '' } });
    assert.equal(body.errorMessage, undefined);
    const polled = await weir.call('GET', `${flow}/jobs/${body.executionId}`, { key: tenant.key });
    assert.deepEqual(polled.body.result, body.result);
    assert.equal(body.result.length, 20);
  });

  it('answers 413 for a result whose outputs are more than are read at once', async () => {
    const flow = await weir.createFlow(tenant, loop('input'));
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: '' } });
    const execution_id = body.executionId;
    const output = JSON.stringify('x'.repeat(OUTPUTS_READ_MAX_BYTES / 2));
    await weir.db.updateTable('block_run').set({ output }).where('execution_id', '=', execution_id).execute();
    const items = [0, 1].map((index) => ({ ref: `item#${index}` }));
    const result = JSON.stringify({ items });
    await weir.db.updateTable('run').set({ result }).where('execution_id', '=', execution_id).execute();
    const polled = await weir.call('GET', `${flow}/jobs/${execution_id}`, { key: tenant.key });
    assert.deepEqual([polled.status, polled.body.detail.code], [413, 'OUTPUT_TOO_LARGE']);
  });

  it('fails a block whose prompt inserts a large message many times, without asking or reserving', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', '{{message}}'.repeat(40), 'demo/chat')]);
    const message = 'x'.repeat(8_000_000);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message } });
    assert.equal(body.status, 'failed');
    assert.match(body.errorMessage, /The prompt would have 320000000 characters/);
    assert.deepEqual([body.cost, body.blocks[0].attempts, models.calls.length], [0, 1, 0]);
  });

  it('tells the code of it to whoever steps', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', '{{message}}'.repeat(40), 'demo/chat')]);
    const response = await fetch(`${weir.url}/api/v1/seq/${flow}/step`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ stepIndex: 0, message: 'x'.repeat(1_000_000) }),
    });
    const events = [];
    for await (const event of readMessages(response)) events.push(event);
    assert.deepEqual([events.at(-1)?.event, events.at(-1)?.data.code], ['run_failed', 'PROMPT_TOO_LARGE']);
  });

  it('stores large answers and results as they were made, and gives them to the next block', async () => {
    const text = `${'x'.repeat(300_000)}"\u0000\u{1F600}é`;
    models.will(answer(text));
    const steps = [
      llm('ask', 'Say much.', 'demo/chat'),
      code('list', 'return [input];'),
      code('count', 'return [input[0].length, input];'),
    ];
    const flow = await weir.createFlow(tenant, steps);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
    assert.equal(body.status, 'completed', body.errorMessage);
    // Compared as text: the difference of two large values takes gigabytes.
    assert.ok(JSON.stringify(body.result) === JSON.stringify([text.length, [text]]));
  });

  it('asks a model whose prompt fits', async () => {
    models.will(answer('yes'));
    const flow = await weir.createFlow(tenant, [llm('ask', '{{message}}{{message}}', 'demo/chat')]);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'hi' } });
    assert.equal(body.result, 'yes');
  });
});
