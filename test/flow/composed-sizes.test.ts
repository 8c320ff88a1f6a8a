// A result that a run composes is measured by the sizes of its stored outputs before it is built.
import assert from 'node:assert/strict';
import type { Step } from '../../flow/definition.ts';
import { interpret } from '../../flow/interpreter.ts';
import { OUTPUT_MAX_BYTES } from '../../flow/limits.ts';
import { blockKey, toPlan } from '../../flow/plan.ts';
import { llm, passthrough } from '../blocks.ts';

/** Interprets steps whose blocks answer so many bytes each, or pause; the keys of the blocks in their order. */
function run(steps: Step[], bytes: number, carriedBytes?: number) {
  const keys: string[] = [];
  const reply = interpret(
    toPlan(steps),
    { ref: '$message' },
    {
      async runBlock(block, _input, iterations) {
        const key = blockKey(block.step_id, iterations);
        keys.push(key);
        if (block.processor_type !== 'llm') return { ref: key, bytes };
        const paused = { step_id: key, iterations: 1, tool_call_ids: [], model: 'demo/chat' };
        return { paused, ...(carriedBytes !== undefined && { carriedBytes }) };
      },
      inspect: async () => ({ items: 4 }),
      holds: async () => false,
    },
  );
  return { reply, keys };
}

const THIRD = Math.ceil(OUTPUT_MAX_BYTES / 3);
const tooLarge = { code: 'OUTPUT_TOO_LARGE' };
const each = (body: Step[]): Step => ({
  type: 'loop',
  step_id: 'each',
  name: 'each',
  max_iterations: 9,
  body,
});
const until: Step = { ...each([passthrough('a')]), until: { pointer: '/x', equals: 1 } } as Step;

describe('the size of what a run puts together', () => {
  it('fails a loop at the iteration whose output makes it too large', async () => {
    const { reply, keys } = run([passthrough('list'), each([passthrough('a')])], THIRD);
    await assert.rejects(reply, { ...tooLarge, message: /^The outputs of each together/ });
    assert.deepEqual(keys, ['list', 'a#0', 'a#1', 'a#2']);
  });

  it('fails an until loop at the iteration whose output makes it too large', async () => {
    const { reply, keys } = run([until], THIRD);
    await assert.rejects(reply, tooLarge);
    assert.equal(keys.length, 3);
  });

  it('fails a parallel step whose branches together are too large', async () => {
    const branches = { x: [passthrough('a')], y: [passthrough('b')], z: [passthrough('c')] };
    const { reply } = run([{ type: 'parallel', step_id: 'p', name: 'p', branches }], THIRD);
    await assert.rejects(reply, { ...tooLarge, message: /^The outputs of p together/ });
  });

  it('counts what is nested', async () => {
    const branches = { x: [passthrough('a')], y: [passthrough('b')] };
    const inner: Step = { type: 'parallel', step_id: 'p', name: 'p', branches };
    const { reply, keys } = run([passthrough('list'), each([inner])], Math.ceil(OUTPUT_MAX_BYTES / 5));
    await assert.rejects(reply, tooLarge);
    assert.equal(keys.length, 1 + 3 * 2);
  });

  it('takes what fits', async () => {
    const { reply } = run(
      [passthrough('list'), each([passthrough('a')])],
      Math.floor(OUTPUT_MAX_BYTES / 4) - 10,
    );
    assert(await reply);
  });

  it('fails a pause whose resume could not send back what came before', async () => {
    const steps = [passthrough('a'), passthrough('b'), llm('ask', 'x', 'demo/x')];
    assert('paused' in (await run(steps, OUTPUT_MAX_BYTES / 2).reply));
    await assert.rejects(run(steps, OUTPUT_MAX_BYTES / 2 + 1).reply, {
      ...tooLarge,
      message: /a resume/,
    });
  });

  it('counts what a resume brought towards the next pause', async () => {
    const steps = [passthrough('a'), llm('ask', 'x', 'demo/x')];
    const bytes = OUTPUT_MAX_BYTES / 2;
    assert('paused' in (await run(steps, bytes, bytes).reply));
    await assert.rejects(run(steps, bytes, bytes + 1).reply, { ...tooLarge, message: /a resume/ });
  });
});
