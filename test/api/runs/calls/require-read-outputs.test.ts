import assert from 'node:assert/strict';
import { requireReadOutputs } from '../../../../api/runs/calls/check-resume.ts';
import { readCode } from '../../../../platform/javascript/read-code.ts';
import { code, llm, passthrough } from '../../../blocks.ts';

describe('requireReadOutputs', () => {
  const steps = [
    passthrough('a'),
    passthrough('b'),
    llm('ask', '{{steps.b}}', 'demo/chat'),
    code('end', 'return outputs.a'),
  ];
  /** Answers the sources that were read; throws what `requireReadOutputs` does. */
  const check = async (
    range: { from: number; to: number; pausedAt?: string },
    sent: object,
    overrides = {},
  ) => {
    const read: string[] = [];
    const readSources = async (sources: string[]) => {
      read.push(...sources);
      return sources.map(readCode);
    };
    await requireReadOutputs(readSources, { steps }, overrides, range, sent as never);
    return read;
  };

  it('refuses the output of an earlier step that a block reads, and names the first', async () => {
    const range = { from: 2, to: 4 };
    await assert.rejects(check(range, { a: 1 }), /accumulatedOutputs\.b: is required: .* which ask reads/);
    await assert.rejects(check(range, { b: 1 }), /accumulatedOutputs\.a: is required: .* which end reads/);
    await assert.rejects(
      check(range, { b: 1 }, { ask: { prompt: '{{steps.a}}' } }),
      /accumulatedOutputs\.a: .* which ask reads/,
    );
  });

  it('accepts outputs that no block of the range reads, and those of the block that goes on', async () => {
    await check({ from: 2, to: 3 }, { b: 1 });
    await check({ from: 2, to: 3, pausedAt: 'ask' }, {});
    await check({ from: 0, to: 4 }, {});
  });

  it('reads no code when no output of an earlier step is missing', async () => {
    assert.deepEqual(await check({ from: 2, to: 4 }, { a: 1, b: null }), []);
    assert.deepEqual(await check({ from: 2, to: 4 }, { a: 1, b: null, c: 1 }), []);
    assert.deepEqual(await check({ from: 3, to: 4 }, { a: 1 }), ['return outputs.a']);
  });
});
