import assert from 'node:assert/strict';
import { listStepsNamed } from '../../../api/flows/find-block-problems.ts';
import { readCodeHere } from '../../../api/flows/read-code-here.ts';
import type { Block } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';

describe('listStepsNamed', () => {
  const namedIn = (block: unknown) => listStepsNamed(block as Block, readCodeHere(block as Block));

  it('finds the steps of a prompt, each once', () => {
    const prompt = '{{steps.a}} {{ steps.b-c.items.0 }} {{steps.a.x}} {{parameters.steps.d}} outputs.e';
    assert.deepEqual(namedIn(llm('b', prompt, 'demo/chat')), ['a', 'b-c']);
  });

  it('finds the steps of code', () => {
    assert.deepEqual(namedIn(code('b', 'return outputs.a + "{{steps.b}}"')), ['a']);
  });

  it('finds none for a passthrough block', () => {
    assert.deepEqual(namedIn(passthrough('b', { prompt: 'outputs.a {{steps.a}}' })), []);
  });
});
