import assert from 'node:assert/strict';
import { MODEL_RETRIES_AWAITED } from '../../../flow/limits.ts';
import { llm } from '../../blocks.ts';
import { answer, type Behaviour, respond } from '../../fakes/model-server.ts';
import { CALL, credits, MODEL, useCredits } from './credits-harness.ts';

describe('an answer whose repair is refused', () => {
  const harness = useCredits();
  const schema = { outputSchema: { type: 'object', required: ['a'] } };
  const cost = 10 * 100 + 5 * 200;
  const busy = (status: number) => respond(status, { error: { message: 'busy' } }, { 'retry-after-ms': '1' });
  const cutOff: Behaviour = (response) => response.destroy();
  /** The conversations that the model was asked with. */
  const asked = () => harness.models.calls.map(({ body }) => body.messages as { content: string }[]);
  async function assertPaid(body: { cost: number }, answers: number) {
    assert.equal(body.cost, credits(answers * cost));
    const { balance, reserved, charges } = await harness.account();
    assert.deepEqual([balance, reserved], [1_000 * CALL - answers * cost, 0]);
    assert.deepEqual([...charges.values()], [answers * cost]);
  }

  it('is kept and charged once, and the repair alone is asked for again', async () => {
    await harness.pay(1_000);
    harness.models.will(answer('no'), cutOff, busy(429), busy(503), answer('{"a":1}'));
    const body = await harness.execute([llm('ask', 'x', MODEL, schema)]);
    assert.deepEqual([body.status, body.result], ['completed', { a: 1 }]);
    const [first, ...repairs] = asked();
    assert.equal(first?.length, 1);
    assert.equal(repairs.length, 4);
    for (const repair of repairs) {
      assert.deepEqual(repair, repairs[0]);
      assert.deepEqual([repair.length, repair[1]?.content], [3, 'no']);
    }
    const { usage, attempts } = body.blocks[0];
    assert.deepEqual([usage.promptTokens, usage.completionTokens, attempts], [20, 10, 4]);
    await assertPaid(body, 2);
  });

  it('is all that is charged when the repair is refused to the end', async () => {
    await harness.pay(1_000);
    harness.models.will(answer('no'), ...Array(1 + MODEL_RETRIES_AWAITED).fill(busy(429)));
    const body = await harness.execute([llm('ask', 'x', MODEL, schema)]);
    assert.deepEqual([body.status, asked().length], ['failed', 2 + MODEL_RETRIES_AWAITED]);
    assert.match(body.errorMessage, /is unavailable \(status 429\)/);
    await assertPaid(body, 1);
  });
});
