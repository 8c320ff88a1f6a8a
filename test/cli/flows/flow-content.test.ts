import assert from 'node:assert/strict';
import { isSameFlow, isSameTest, isSameTests, type TestCase } from '../../../cli/flows/flow-content.ts';
import type { Step } from '../../../flow/definition.ts';

describe('isSameFlow', () => {
  it('compares flows with what files may leave out filled in, in whatever order their fields are', () => {
    const written = [{ type: 'loop', step_id: 'l', body: [] }] as unknown as Step[];
    const stored = [{ body: [], max_iterations: 100, name: 'l', step_id: 'l', type: 'loop' }] as Step[];
    const flow = { name: 'F', slug: 'f', steps: written };
    assert.ok(isSameFlow(flow, { ...flow, description: '', steps: stored }));
    assert.ok(!isSameFlow(flow, { ...flow, description: 'D' }));
    assert.ok(!isSameFlow(flow, { ...flow, name: 'G' }));
    assert.ok(!isSameFlow(flow, { ...flow, steps: [] }));
  });
});

describe('isSameTest', () => {
  const judged = (model?: string): TestCase => ({
    name: 'j',
    message: 'm',
    expectation: { type: 'judge', criteria: 'polite', ...(model !== undefined && { model }) },
  });

  it('compares the models of judges only where both are named, since the service fills one in', () => {
    assert.ok(isSameTest(judged(), judged('demo/chat')));
    assert.ok(isSameTest(judged('demo/chat'), judged('demo/chat')));
    assert.ok(!isSameTest(judged('demo/chat'), judged('openai/gpt-5-mini')));
  });

  it('takes absent parameters for none, and says no to lists of which one lacks a case', () => {
    assert.ok(isSameTests([judged()], [{ ...judged(), parameters: {} }]));
    assert.ok(!isSameTests([judged()], [{ ...judged(), parameters: { a: 1 } }]));
    assert.ok(!isSameTests([judged()], []));
    assert.ok(!isSameTests([], [judged()]));
  });
});
