// The candidates: the systems measured side by side.
import type { Step } from '../../flow/definition.ts';
import { code, llm, passthrough } from '../../test/blocks.ts';
import type { HandWrittenJob } from '../candidates/hand-written.ts';

export const MESSAGE = 'rivers, dams, salmon';
/** How long the model takes for each of the three calls: most, and fast ones. */
const MODEL_MS = 3_000;
const FAST_MODEL_MS = 300;

type Candidate = {
  name: string;
  callers: number[];
  /** A text that its answer contains. */
  expect: string;
  /** How long the model takes, for runs that wait for three calls of it. */
  modelMs?: number;
} & ({ byHand: HandWrittenJob } | { flow: Step[] });

const UP_TO_64 = [1, 16, 64];
const CROWDED = [...UP_TO_64, 256];
const FROM_16 = [16, 64, 256];
const SHOUTED = MESSAGE.toUpperCase();
const MODEL_ANSWER = '"result":"Demo answer';
const shout = (stepId: string) => code(stepId, 'return input.toUpperCase();');
const modelSteps = (ms: number) =>
  ['first', 'second', 'third'].map((stepId) =>
    llm(stepId, 'Answer to {{previous_output}}', `demo/slow-${ms}`),
  );

export const CANDIDATES = {
  k: {
    name: 'Weir, three model calls of 3 s',
    callers: FROM_16,
    expect: MODEL_ANSWER,
    modelMs: MODEL_MS,
    flow: modelSteps(MODEL_MS),
  },
  l: {
    name: 'Temporal by hand, three model calls of 3 s, regular activities',
    callers: FROM_16,
    expect: MODEL_ANSWER,
    modelMs: MODEL_MS,
    byHand: { workflow: 'threeModelCalls', eager: false, modelMs: MODEL_MS },
  },
  a: {
    name: 'Temporal by hand, three regular activities',
    callers: UP_TO_64,
    expect: SHOUTED,
    byHand: { workflow: 'threeActivities', eager: false },
  },
  b: {
    name: 'Weir, passthrough, code, passthrough',
    callers: CROWDED,
    expect: `"result":"${SHOUTED}"`,
    flow: [passthrough('forward'), shout('shout'), passthrough('pass-on')],
  },
  c: {
    name: 'empty workflow, eager start',
    callers: UP_TO_64,
    expect: '"result":""',
    byHand: { workflow: 'empty', eager: true },
  },
  d: { name: 'three functions in Koa, no engine', callers: UP_TO_64, expect: SHOUTED, byHand: {} },
  e: {
    name: 'Weir, three model calls of 300 ms',
    callers: UP_TO_64,
    expect: MODEL_ANSWER,
    modelMs: FAST_MODEL_MS,
    flow: modelSteps(FAST_MODEL_MS),
  },
  f: {
    name: 'Temporal by hand, eager start, three local activities',
    callers: UP_TO_64,
    expect: SHOUTED,
    byHand: { workflow: 'threeLocalActivities', eager: true },
  },
  g: {
    name: 'Weir, three passthroughs',
    callers: CROWDED,
    expect: `"result":"${MESSAGE}"`,
    flow: ['first', 'second', 'third'].map((stepId) => passthrough(stepId)),
  },
  h: {
    name: 'Weir, three code blocks',
    callers: UP_TO_64,
    expect: `"result":"${SHOUTED}"`,
    flow: ['first', 'second', 'third'].map(shout),
  },
  i: {
    name: 'Temporal by hand, three model calls, regular activities',
    callers: UP_TO_64,
    expect: MODEL_ANSWER,
    modelMs: FAST_MODEL_MS,
    byHand: { workflow: 'threeModelCalls', eager: false, modelMs: FAST_MODEL_MS },
  },
  j: {
    name: 'Temporal by hand, three model calls, eager start, local activities',
    callers: UP_TO_64,
    expect: MODEL_ANSWER,
    modelMs: FAST_MODEL_MS,
    byHand: { workflow: 'threeLocalModelCalls', eager: true, modelMs: FAST_MODEL_MS },
  },
} as const satisfies Record<string, Candidate>;

export type Letter = keyof typeof CANDIDATES;
