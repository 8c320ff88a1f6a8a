// The content of a flow that a file holds (names, steps, test cases), and differences from it as lines for people.
import { canonicalJson } from '../../flow/canonical-json.ts';
import type { Json } from '../../flow/definition.ts';
import { type Change, findChanges } from '../../flow/find-changes.ts';
import { oneLine } from '../terminal/format-table.ts';
import { type FlowContent, isSameTest, normalize, type TestCase } from './flow-content.ts';

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
function contentOf({ name, message, parameters = {}, expectation }: TestCase): Json {
  return { name, message, parameters, expectation };
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

/** Lists the lines between the first and the last that differ, as those that go and those that come. */
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
