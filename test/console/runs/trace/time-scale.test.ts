import assert from 'node:assert/strict';
import fc from 'fast-check';
import { makeTimeScale, niceStep, withRoom } from '../../../../console/runs/trace/time-scale.ts';

describe('the time scale of a waterfall', () => {
  it('is linear while something runs', () => {
    const scale = makeTimeScale({ start: 1_000, end: 2_000 }, [{ start: 1_000, end: 2_000 }]);
    assert.deepEqual([1_000, 1_250, 2_000].map(scale.at), [0, 0.25, 1]);
    assert.equal(scale.timeAt(0.5), 1_500);
    assert.deepEqual(scale.cuts, []);
  });

  it('shortens a pause that is longer than all the work', () => {
    const work = [
      { start: 0, end: 1_000 },
      { start: 7_201_000, end: 7_202_000 },
    ];
    const scale = makeTimeScale({ start: 0, end: 7_202_000 }, work);
    assert.deepEqual(
      scale.cuts.map(({ ms }) => ms),
      [7_200_000],
    );
    const [cut] = scale.cuts;
    assert.ok(cut && cut.to - cut.from <= 0.05 + 1e-9);
    assert.ok(scale.at(1_000) > 0.45);
  });

  it('shows a run without work or duration unshortened', () => {
    assert.equal(makeTimeScale({ start: 0, end: 60_000 }, []).at(30_000), 0.5);
    const none = makeTimeScale({ start: 5, end: 5 }, [{ start: 5, end: 5 }]);
    assert.ok([none.at(5), none.timeAt(0.5)].every(Number.isFinite));
  });

  it('is monotonic, stays between 0 and 1, and can be inverted', () => {
    const interval = fc.tuple(fc.nat(1e7), fc.nat(1e5)).map(([start, ms]) => ({ start, end: start + ms }));
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 20 }), fc.nat(1.01e7), fc.nat(1.01e7), (work, a, b) => {
        const scale = makeTimeScale({ start: 0, end: 1.01e7 }, work);
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        assert.ok(scale.at(low) >= 0 && scale.at(high) <= 1 + 1e-9);
        assert.ok(scale.at(low) <= scale.at(high) + 1e-9);
        assert.ok(Math.abs(scale.timeAt(scale.at(low)) - low) < 1);
      }),
    );
  });

  it('has about as many ticks as requested, at round times', () => {
    const scale = makeTimeScale({ start: 0, end: 4_210 }, [{ start: 0, end: 4_210 }]);
    assert.deepEqual(
      scale.ticks(5).map(({ ms }) => ms),
      [0, 1_000, 2_000, 3_000, 4_000],
    );
    for (const [ms, step] of [
      [0.3, 1],
      [3, 5],
      [700, 1_000],
      [20_000, 20_000],
      [45_000, 60_000],
      [4_000_000, 7_200_000],
    ] as const)
      assert.equal(niceStep(ms), step);
  });

  it('has no label where it would be cut off, or cover another one', () => {
    const shown = (...places: number[]) =>
      withRoom(
        places.map((at) => ({ ms: 1_000 * at, at })),
        0.2,
      ).map(({ at }) => at);
    assert.deepEqual(shown(0, 0.5, 0.8), [0, 0.5, 0.8]);
    assert.deepEqual(shown(0, 0.9), [0]);
    assert.deepEqual(shown(0, 0.5, 0.6, 0.75), [0, 0.5, 0.75]);
  });

  it('has no two labels that are alike, also after a long wait', () => {
    const ticks = [3_200, 3_210, 3_220, 3_260].map((ms, index) => ({ ms, at: 0.2 * index }));
    assert.deepEqual(
      withRoom(ticks, 0.1).map(({ ms }) => ms),
      [3_200, 3_260],
    );
  });
});
