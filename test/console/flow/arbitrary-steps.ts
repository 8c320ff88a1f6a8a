import fc from 'fast-check';
import type { Step } from '../../../console/flow/draft/steps.ts';

type Shape =
  | { kind: 'llm' | 'code' | 'passthrough' }
  | { kind: 'loop'; body: Shape[] }
  | { kind: 'parallel'; branches: Record<string, Shape[]> };

const { shapes } = fc.letrec<{ shape: Shape; shapes: Shape[] }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'steps' },
    fc.record({ kind: fc.constantFrom('llm' as const, 'code' as const, 'passthrough' as const) }),
    fc.record({ kind: fc.constant('loop' as const), body: tie('shapes') }),
    fc.record({
      kind: fc.constant('parallel' as const),
      branches: fc.dictionary(fc.constantFrom('left', 'right', 'a b', '__proto__', 'x.y["z'), tie('shapes'), {
        minKeys: 1,
        maxKeys: 3,
      }),
    }),
  ),
  shapes: fc.array(tie('shape'), { minLength: 1, maxLength: 3, depthIdentifier: 'steps' }),
}));

/** Arbitrary trees of steps as in a draft: every list has a step, every step a unique id. */
export const trees: fc.Arbitrary<Step[]> = shapes.map((list) => {
  let count = 0;
  const build = (shape: Shape): Step => {
    const step_id = `s${count++}`;
    const named = { step_id, name: `Step ${step_id}` };
    if (shape.kind === 'loop')
      return { type: 'loop', ...named, max_iterations: 3, body: shape.body.map(build) };
    if (shape.kind === 'parallel') {
      const branches = Object.entries(shape.branches).map(([name, steps]) => [name, steps.map(build)]);
      return { type: 'parallel', ...named, branches: Object.fromEntries(branches) };
    }
    return { type: 'sequential', ...named, processor_type: shape.kind };
  };
  return list.map(build);
});

/** A tree, and a number that picks one of its steps or places. */
export const picked = fc.tuple(trees, fc.nat());
