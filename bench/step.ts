import { passthrough } from '../test/blocks.ts';
import { MESSAGE } from './candidates.ts';
import { quantile } from './statistics.ts';
import type { Weir } from './weir.ts';

const CALLS = 200;
const WARM_UP_CALLS = 20;

/** Measures how long one caller of `/step` waits for the first event, and for the end of the stream. */
export async function measureStep(weir: Weir) {
  const caller = await weir.createCaller();
  const flow = ['first', 'second', 'third'].map((stepId) => passthrough(stepId));
  const { url, headers = {} } = await caller.target(flow, '', 'step');
  const body = JSON.stringify({ executionId: null, stepIndex: 0, message: MESSAGE, runRemaining: true });
  const firsts: number[] = [];
  const ends: number[] = [];
  for (let call = 0; call < WARM_UP_CALLS + CALLS; call += 1) {
    const began = performance.now();
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    let text = '';
    let first = 0;
    for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (first === 0 && text.includes('event:')) first = performance.now() - began;
    }
    if (!text.includes('run_completed')) throw new Error(`/step answered ${answer.status}: ${text}`);
    if (call < WARM_UP_CALLS) continue;
    firsts.push(first);
    ends.push(performance.now() - began);
  }
  return {
    'first event, p50 ms': quantile(firsts, 0.5),
    'first event, p95 ms': quantile(firsts, 0.95),
    'three blocks, p50 ms': quantile(ends, 0.5),
  };
}
