import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eachStep, type Step } from '../../../../console/flow/draft/steps.ts';
import { arrowPath, layOut, type StepBox, shapeOf, wirePath } from '../../../../console/flow/graph/layout.ts';
import { trees } from '../arbitrary-steps.ts';

const idsInside = (step: Step) => new Set([...eachStep([step])].map((placed) => placed.step.step_id));
const contains = (outer: StepBox, inner: StepBox) =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;
const overlaps = (a: StepBox, b: StepBox) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe('the layout of a graph', () => {
  it('has every step once; frames hold the steps inside them, and no other two overlap', () => {
    fc.assert(
      fc.property(trees, (steps) => {
        const { boxes, width, height } = layOut(steps);
        assert.deepEqual(
          boxes.map(({ step }) => step.step_id),
          [...eachStep(steps)].map(({ step }) => step.step_id),
        );
        for (const a of boxes) {
          assert.ok(a.x >= -width / 2 && a.x + a.width <= width / 2);
          assert.ok(a.y >= 0 && a.y + a.height <= height);
          const inside = idsInside(a.step);
          for (const b of boxes) {
            if (a === b) continue;
            if (inside.has(b.step.step_id)) assert.ok(contains(a, b));
            else if (!idsInside(b.step).has(a.step.step_id)) assert.ok(!overlaps(a, b));
          }
        }
      }),
    );
  });

  it('is the same for trees of the same shape, whatever is typed in their steps', () => {
    const geometry = (steps: Step[]) => {
      const { boxes, ...rest } = layOut(steps);
      return { ...rest, boxes: boxes.map(({ step, ...box }) => ({ ...box, id: step.step_id })) };
    };
    const typed = (steps: Step[]): Step[] =>
      JSON.parse(JSON.stringify(steps), (key, value) =>
        key === 'name' || key === 'prompt' ? 'typed' : value,
      );
    fc.assert(
      fc.property(trees, trees, (one, other) => {
        assert.equal(shapeOf(one), shapeOf(typed(one)));
        assert.deepEqual(geometry(one), geometry(typed(one)));
        if (shapeOf(one) === shapeOf(other)) assert.deepEqual(geometry(one), geometry(other));
      }),
    );
  });

  it('has one place before each step and one at the end of each list, none overlapping', () => {
    fc.assert(
      fc.property(trees, (steps) => {
        const { gaps, labels } = layOut(steps);
        const all = [...eachStep(steps)].map(({ step }) => step);
        const lists = 1 + all.filter(({ type }) => type === 'loop').length + labels.length;
        assert.equal(gaps.length, all.length + lists);
        assert.equal(new Set(gaps.map(({ x, y }) => `${x} ${y}`)).size, gaps.length);
      }),
    );
  });

  it('of a flow without steps leads from the message to the result, with a place between', () => {
    const { gaps, start, end } = layOut([]);
    assert.deepEqual(
      gaps.map(({ place }) => place),
      [{ parent: null, index: 0 }],
    );
    assert.ok(start.y < (gaps[0]?.y ?? 0) && (gaps[0]?.y ?? 0) < end.y);
  });
});

describe('a line of the graph', () => {
  it('is drawn along its points with rounded corners, and its arrowhead at the end', () => {
    const points = [
      { x: 0, y: 0 },
      { x: 0, y: 20 },
      { x: 40, y: 20 },
    ];
    assert.equal(wirePath(points), 'M 0 0 L 0 12 Q 0 20 8 20 L 40 20');
    assert.equal(arrowPath(points), 'M 34 16 L 40 20 L 34 24 Z');
  });

  it('skips equal points', () => {
    assert.equal(
      wirePath([
        { x: 0, y: 0 },
        { x: 0, y: 0 },
        { x: 0, y: 9 },
      ]),
      'M 0 0 L 0 9',
    );
    assert.equal(wirePath([]), '');
  });
});
