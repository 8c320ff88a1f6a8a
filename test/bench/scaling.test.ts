import assert from 'node:assert/strict';
import { planMachines, type RunCost } from '../../bench/scaling/plan-machines.ts';
import { simulate } from '../../bench/scaling/simulate.ts';

const COST: RunCost = {
  cpuMs: { api: 10, worker: 20, temporal: 15, postgres: 13 },
  commits: { weirDatabase: 4, temporalDatabase: 10 },
  walBytes: 20_000,
  diskBytes: { weirDatabase: 3_000, temporalDatabase: 7_000 },
};

describe('a plan of machines', () => {
  it('has the processors that a rate of runs takes, at the share that may be used', () => {
    const { cores, walMbPerSecond, commitsPerSecond, diskGbPerDay } = planMachines(COST, 100, 0.5);
    assert.deepEqual(cores, { api: 2, worker: 4, temporal: 3, postgres: 2.6 });
    assert.deepEqual([walMbPerSecond, commitsPerSecond, diskGbPerDay], [2, 1_400, 86.4]);
  });
});

describe('the simulation of runs that queue', () => {
  /** The same numbers in each test run (a linear congruential generator). */
  const random = () => {
    let state = 1;
    return () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state / 2 ** 31;
    };
  };
  const at = (runsPerSecond: number, servers = 1) =>
    simulate(
      { stations: { only: { servers, ms: 5 } }, way: ['only'], runsPerSecond, runs: 50_000 },
      random(),
    );

  it('agrees with the formula for one queue, whose times are exponential: median ln 2, p95 ln 20 of the mean', () => {
    // M/M/1 at 50%: the mean is 5 ms / (1 - 0.5).
    const { p50, p95, unqueued } = at(100);
    assert.equal(unqueued, 5);
    assert.ok(Math.abs(p50 / (10 * Math.LN2) - 1) < 0.1, String(p50));
    assert.ok(Math.abs(p95 / (10 * Math.log(20)) - 1) < 0.1, String(p95));
  });

  it('has longer queues the more of a part is used, and shorter ones with more servers', () => {
    assert.ok(at(180).p95 > 2 * at(100).p95);
    assert.ok(at(180, 2).p95 < at(180).p95);
  });
});
