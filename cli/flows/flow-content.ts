// The content of a flow that a file holds (names, steps, test cases), and differences from it as lines for people.

import { completeSteps } from '../../api/flows/flow-file.ts';
import { draftRequest } from '../../api/flows/schemas.ts';
import type { Json, Step } from '../../flow/definition.ts';
import { type Change, findChanges } from '../../flow/find-changes.ts';
import { canonicalJson } from '../../flow/json.ts';
import { oneLine } from '../terminal/print.ts';

export type FlowContent = { name: string; slug: string; description?: string; steps: Step[] };

/** `parameters` and the model of a judge may be absent; the service fills them in. */
export type TestCase = {
  name: string;
  message: string;
  parameters?: { [name: string]: Json };
  tools?: Json[];
  tool_results?: Json[];
  expectation: { type: string; [field: string]: Json };
};

const VALUE_MAX_CHARS = 100;
const LINES_MAX = 40;

/** Lists what changes from one flow to another, as GET …/difference does; `name` and `description` are of the flow itself. */
export function findFlowChanges(from: FlowContent, to: FlowContent): Change[] {
  const [before, after] = [normalize(from), normalize(to)];
  const names = (['name', 'description'] as const).flatMap((field) =>
    before[field] === after[field]
      ? []
      : [{ step_id: null, field, from: before[field] as Json, to: after[field] as Json }],
  );
  return [...names, ...findChanges(before, after)];
}

/** Lists the test cases that change; a side that does not have one is undefined. */
export function findTestChanges(from: TestCase[], to: TestCase[]): Change[] {
  const before = new Map(from.map((test) => [test.name, test]));
  const after = new Map(to.map((test) => [test.name, test]));
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old && now && isSameTest(old, now)) return [];
    const [from, to] = [old, now].map((test) => test && contentOf(test));
    return [{ step_id: null, field: `test ${JSON.stringify(name)}`, from, to }];
  });
}

/** Leaves out what the service adds to a test case. */
export function contentOf(test: TestCase): { [field: string]: Json } {
  const { name, message, parameters = {}, tools = [], tool_results = [], expectation } = test;
  return {
    name,
    message,
    parameters,
    ...(tools.length > 0 && { tools }),
    ...(tool_results.length > 0 && { tool_results }),
    expectation,
  };
}

/** Describes changes, each in a line, or, for a text of several lines, in the lines that differ. */
export function describeChanges(changes: Change[]): string {
  return changes.map(describeChange).join('\n');
}

function describeChange({ step_id, field, from, to }: Change): string {
  const place = oneLine([step_id, field].filter(Boolean).join('.'));
  const isWhole = field === '' || field.startsWith('test ');
  if (from === undefined && isWhole) return `  + ${place}: ${show(to)}`;
  if (to === undefined && isWhole) return `  - ${place}: ${show(from)}`;
  if (typeof from === 'string' && typeof to === 'string' && /\n/.test(from + to))
    return [`  ${place}:`, ...differingLines(from.split('\n'), to.split('\n'))].join('\n');
  return `  ${place}: ${show(from)} → ${show(to)}`;
}

/** Lists removed and added lines, from the first to the last difference. */
function differingLines(from: string[], to: string[]): string[] {
  const isEqual = (at: number, fromEnd = 0) => (fromEnd ? from.at(-at) === to.at(-at) : from[at] === to[at]);
  const shortest = Math.min(from.length, to.length);
  let start = 0;
  while (start < shortest && isEqual(start)) start++;
  let end = 0;
  while (end < shortest - start && isEqual(end + 1, 1)) end++;
  const cut = (lines: string[], sign: string) => {
    const shown = lines.slice(start, lines.length - end).map((line) => `    ${sign} ${oneLine(line)}`);
    const more = shown.length - LINES_MAX;
    return more > 0 ? [...shown.slice(0, LINES_MAX), `    ${sign} … and ${more} more lines`] : shown;
  };
  return [...cut(from, '-'), ...cut(to, '+')];
}

function show(value: Json | undefined): string {
  if (value === undefined) return '(none)';
  const text = oneLine(canonicalJson(value));
  return text.length > VALUE_MAX_CHARS ? `${text.slice(0, VALUE_MAX_CHARS)}…` : text;
}

/** Tells whether a flow has the names and steps of another. */
export function isSameFlow(one: FlowContent, other: FlowContent): boolean {
  return canonicalJson(normalize(one)) === canonicalJson(normalize(other));
}

/** Fills in optional fields of a file, so that a draft made by an assistant equals the file made from it. */
function normalize({ name, slug, description = '', steps }: FlowContent): FlowContent {
  const { data } = draftRequest.safeParse({ steps });
  return { name, slug, description, steps: data ? completeSteps(data.steps).steps : steps };
}

/** Tells whether two lists hold the same test cases. */
export function isSameTests(some: TestCase[], others: TestCase[]): boolean {
  const named = new Map(others.map((test) => [test.name, test]));
  return (
    some.length === others.length &&
    some.every((test) => {
      const other = named.get(test.name);
      return other !== undefined && isSameTest(test, other);
    })
  );
}

/** Tells whether two test cases are the same. The model of a judge counts where both name one. */
export function isSameTest(one: TestCase, other: TestCase): boolean {
  const keepModel = 'model' in one.expectation && 'model' in other.expectation;
  const text = (test: TestCase) => {
    const { model, ...expectation } = test.expectation;
    return canonicalJson({ ...contentOf(test), expectation, ...(keepModel && { model }) });
  };
  return text(one) === text(other);
}
