import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  copyStep,
  followName,
  insertStep,
  moveStep,
  placeBeside,
  removeStep,
  renameStep,
  shiftStep,
  unwrapStep,
} from '../../../../console/flow/draft/edit-steps.ts';
import { wrapStep } from '../../../../console/flow/draft/new-step.ts';
import {
  eachStep,
  findStep,
  listsInside,
  type Place,
  type PlacedStep,
  type Step,
  type StepList,
  stepIdsOf,
} from '../../../../console/flow/draft/steps.ts';
import { layOut } from '../../../../console/flow/graph/layout.ts';
import { picked, trees } from '../arbitrary-steps.ts';

const block = (step_id: string, prompt?: string): Step => ({
  type: 'sequential',
  step_id,
  name: step_id,
  processor_type: 'llm',
  ...(prompt !== undefined && { prompt }),
});
const idsIn = (steps: Step[]) => [...eachStep(steps)].map(({ step }) => step.step_id);
const pick = <T>(list: T[], number: number): T => list[number % list.length] as T;
const isSameList = (a: StepList, b: StepList) => a.parent === b.parent && a.branch === b.branch;
const placesOf = (steps: Step[]): Place[] => layOut(steps).gaps.map(({ place }) => place);
const blocksIn = (steps: Step[]) =>
  [...eachStep(steps)].filter(({ step }) => step.type === 'sequential').map(({ step }) => step.step_id);
const hasNoEmptyList = (steps: Step[]) =>
  [...eachStep(steps)].every(({ step }) => listsInside(step).every((inner) => inner.steps.length > 0));

describe('the step_id of a step whose name changes', () => {
  const named = (step_id: string, name: string) => ({ ...block(step_id), name });

  it('follows the name', () => {
    const step = named('model-call-2', 'Sum up');
    assert.equal(followName([block('model-call'), step], step, 'Model call'), 'sum-up');
    assert.equal(followName([block('sum-up'), step], step, 'Model call 2'), 'sum-up-2');
  });

  it('stays when the author has chosen it, when the name is empty, and when a prompt refers to it', () => {
    const [chosen, empty, used] = [named('mine', 'Sum up'), named('code', ' '), named('code', 'Sum up')];
    assert.equal(followName([chosen], chosen, 'Code'), undefined);
    assert.equal(followName([empty], empty, 'Code'), undefined);
    assert.equal(followName([used, block('last', '{{steps.code}}')], used, 'Code'), undefined);
  });
});

describe('edits of the steps of a draft', () => {
  it('insert a step, and change nothing else', () => {
    fc.assert(
      fc.property(picked, ([steps, number]) => {
        const before = structuredClone(steps);
        const place = pick(placesOf(steps), number);
        const after = insertStep(steps, place, block('new'));
        const found = findStep(after, 'new');
        assert.deepEqual(found?.place, place);
        assert.deepEqual(
          idsIn(after).filter((id) => id !== 'new'),
          idsIn(steps),
        );
        assert.deepEqual(removeStep(after, 'new'), before);
        assert.deepEqual(steps, before);
      }),
    );
  });

  it('remove a step with its inner steps, and leave no list empty', () => {
    fc.assert(
      fc.property(picked, ([steps, number]) => {
        const id = pick(idsIn(steps), number);
        const gone = stepIdsOf([findStep(steps, id)?.step as Step]);
        const after = removeStep(steps, id);
        assert.equal(findStep(after, id), undefined);
        assert.ok(hasNoEmptyList(after));
        assert.deepEqual(
          blocksIn(after),
          blocksIn(steps).filter((other) => !gone.has(other)),
        );
      }),
    );
  });

  it('move a step to a place, and lose none', () => {
    fc.assert(
      fc.property(picked, fc.nat(), ([steps, number], other) => {
        const id = pick(idsIn(steps), number);
        const place = pick(placesOf(steps), other);
        const found = findStep(steps, id) as PlacedStep;
        const list = [...eachStep(steps)].find((other) => isSameList(other.place, place))?.steps ?? [];
        const after = moveStep(steps, id, place);
        const isBeside = isSameList(found.place, place) && [0, 1].includes(place.index - found.place.index);
        const isInside = stepIdsOf([found.step]).has(place.parent ?? '');
        assert.equal(after === steps, isBeside || isInside);
        if (after === steps) return;
        assert.ok(hasNoEmptyList(after));
        assert.deepEqual(blocksIn(after).sort(), blocksIn(steps).sort());
        const moved = findStep(after, id) as PlacedStep;
        assert.deepEqual(moved.step, found.step);
        assert.ok(isSameList(moved.place, place));
        // The list that the move emptied is removed.
        const next = list.slice(place.index).find((step) => findStep(after, step.step_id));
        assert.equal(moved.steps[moved.place.index + 1]?.step_id, next?.step_id);
      }),
    );
  });

  it('change nothing when a step is moved into itself or to its own place', () => {
    const loop: Step = { type: 'loop', step_id: 'l', name: 'L', max_iterations: 2, body: [block('a')] };
    const steps = [loop, block('b')];
    assert.equal(moveStep(steps, 'l', { parent: 'l', index: 0 }), steps);
    assert.equal(moveStep(steps, 'l', { parent: null, index: 0 }), steps);
    assert.equal(moveStep(steps, 'l', { parent: null, index: 1 }), steps);
    assert.equal(moveStep(steps, 'unknown', { parent: null, index: 0 }), steps);
  });

  it('keep the identity of unchanged parts', () => {
    fc.assert(
      fc.property(picked, ([steps, number]) => {
        const id = pick(idsIn(steps), number);
        const after = insertStep(steps, placeBeside(steps, id, 1), block('new'));
        const changed = new Set(findStep(after, 'new')?.parents.map(({ step_id }) => step_id));
        for (const { step } of eachStep(steps))
          if (!changed.has(step.step_id)) assert.equal(findStep(after, step.step_id)?.step, step);
      }),
    );
  });

  it('shift a step within its list, then out of the enclosing step', () => {
    const steps: Step[] = [
      { type: 'loop', step_id: 'l', name: 'L', max_iterations: 2, body: [block('a'), block('b')] },
      block('c'),
    ];
    assert.deepEqual(idsIn(shiftStep(steps, 'a', 1)), ['l', 'b', 'a', 'c']);
    assert.deepEqual(idsIn(shiftStep(steps, 'b', 1)), ['l', 'a', 'b', 'c']);
    assert.equal(findStep(shiftStep(steps, 'b', 1), 'b')?.place.parent, null);
    assert.deepEqual(idsIn(shiftStep(steps, 'a', -1)), ['a', 'l', 'b', 'c']);
    assert.equal(shiftStep(steps, 'c', 1), steps);
  });

  it('copy a step under free ids, with references between the copies', () => {
    const loop: Step = {
      type: 'loop',
      step_id: 'l',
      name: 'L',
      max_iterations: 2,
      body: [block('a'), block('b', '{{steps.a.text}} {{ steps.other }}')],
    };
    const copy = copyStep(loop, stepIdsOf([loop]));
    assert.deepEqual(idsIn([copy]), ['l-2', 'a-2', 'b-2']);
    const inner = findStep([copy], 'b-2')?.step as Extract<Step, { type: 'sequential' }>;
    assert.equal(inner.prompt, '{{steps.a-2.text}} {{ steps.other }}');
    fc.assert(
      fc.property(trees, (steps) => {
        const [first] = steps as [Step];
        const taken = stepIdsOf(steps);
        assert.ok(idsIn([copyStep(first, taken)]).every((id) => !taken.has(id)));
      }),
    );
  });

  it('follow a renamed step in prompts and code, and in nothing that only looks like a reference', () => {
    const code: Step = {
      type: 'sequential',
      step_id: 'c',
      name: 'C',
      processor_type: 'code',
      prompt: "return outputs.a + outputs['a'] + outputs.ab + my.outputs.a;",
    };
    const steps = [block('a'), block('b', '{{steps.a}} {{steps.a.x}} {{steps.ab}} steps.a'), code];
    const [, b, c] = renameStep(steps, 'a', 'new-name') as Extract<Step, { type: 'sequential' }>[];
    assert.equal(b?.prompt, '{{steps.new-name}} {{steps.new-name.x}} {{steps.ab}} steps.a');
    assert.equal(c?.prompt, "return outputs['new-name'] + outputs['new-name'] + outputs.ab + my.outputs.a;");
    const [, , dotted] = renameStep(steps, 'a', 'plain') as Extract<Step, { type: 'sequential' }>[];
    assert.equal(dotted?.prompt, "return outputs.plain + outputs['plain'] + outputs.ab + my.outputs.a;");
  });

  it('wrap a step and unwrap it again', () => {
    fc.assert(
      fc.property(picked, ([steps, number]) => {
        const id = pick(idsIn(steps), number);
        const wrapped = wrapStep(steps, id, 'loop');
        const parent = findStep(wrapped, id)?.parents.at(-1)?.step_id as string;
        assert.deepEqual(unwrapStep(wrapped, parent), steps);
        const beside = wrapStep(steps, id, 'parallel');
        assert.deepEqual(findStep(beside, id)?.step, findStep(steps, id)?.step);
      }),
    );
  });
});
