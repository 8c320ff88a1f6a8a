import assert from 'node:assert/strict';
import fc from 'fast-check';
import { moveStep } from '../../../../console/flow/draft/edit-steps.ts';
import { findStep, type Step, stepIdsOf } from '../../../../console/flow/draft/steps.ts';
import {
  findDrop,
  fitsInto,
  type Gap,
  initialView,
  layOut,
  viewWith,
} from '../../../../console/flow/graph/layout.ts';
import { picked } from '../arbitrary-steps.ts';

describe('a dropped step', () => {
  it('goes to a place near the pointer, outside itself and not its own', () => {
    fc.assert(
      fc.property(picked, fc.nat(), ([steps, number], other) => {
        const layout = layOut(steps);
        const { step } = layout.boxes[number % layout.boxes.length] as { step: Step };
        const pointer = layout.gaps[other % layout.gaps.length] as Gap;
        const takes = ({ place }: Gap) => moveStep(steps, step.step_id, place) !== steps;
        const drop = findDrop(layout.gaps, pointer, stepIdsOf([step]), findStep(steps, step.step_id)?.place);
        if (takes(pointer)) assert.equal(drop, pointer);
        else if (drop) assert.ok(takes(drop));
      }),
    );
  });

  it('stays where it is when the pointer is far from every place', () => {
    const { gaps } = layOut([]);
    assert.equal(findDrop(gaps, { x: 5_000, y: 5_000 }, new Set(), undefined), undefined);
  });
});

describe('the view of a graph', () => {
  const layout = layOut([]);

  it('shows a small graph as a whole, in the middle', () => {
    const view = initialView(layout, { width: 800, height: 600 });
    assert.equal(view.zoom, 1);
    assert.equal(view.x, 400);
    assert.ok(fitsInto(layout, { width: 800, height: 600 }));
  });

  it('shows the beginning of a graph that is too large, at a comfortable zoom', () => {
    const [large, window] = [
      { ...layout, width: 400, height: 20_000 },
      { width: 800, height: 600 },
    ];
    const view = initialView(large, window);
    assert.ok(!fitsInto(large, window));
    assert.deepEqual(view, { zoom: 0.85, x: 400, y: 20 });
  });

  it('moves to a box only when it is out of sight', () => {
    const window = { width: 800, height: 600 };
    const view = { x: 0, y: 0, zoom: 1 };
    assert.deepEqual(viewWith(view, { x: 100, y: 100, width: 200, height: 50 }, window), view);
    const below = viewWith(view, { x: 100, y: 900, width: 200, height: 50 }, window);
    assert.deepEqual(below, { x: 0, y: -370, zoom: 1 });
  });
});
