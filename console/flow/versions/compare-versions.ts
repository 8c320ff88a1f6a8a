import type { components } from '../../api/schema.d.ts';
import { isObject } from '../../ui/json/read-json.ts';
import { fieldName, KIND_NAMES } from '../draft/field-names.ts';
import type { Step } from '../draft/steps.ts';

const FIRST = ['step_id', 'name', 'type', 'processor_type', 'model', 'prompt', 'max_iterations', 'until'];
const LAST = ['inputSchema', 'outputSchema', 'body', 'branches'];

type Change = components['schemas']['FlowDifference']['changes'][number];

export type ChangedStep = { stepId: string | null; lines: string[]; kind: 'added' | 'removed' | 'changed' };

const SHOWN_MAX = 60;
const SWITCHED = new Map<unknown, string>([
  [true, 'on'],
  [false, 'off'],
]);
const WORDS: Record<string, string> = {
  steps: 'order of the steps',
  body: 'steps of the body',
  branches: 'branches',
};

/** Summarizes the changes of each step: `model: demo/chat → openai/gpt-5`, `prompt`. */
export function describeChanges(changes: Change[]): ChangedStep[] {
  const steps = new Map<string | null, ChangedStep>();
  for (const { step_id: stepId, field, from, to } of changes) {
    const step = steps.get(stepId) ?? { stepId, lines: [], kind: 'changed' };
    steps.set(stepId, step);
    if (field === '') step.kind = from === undefined ? 'added' : 'removed';
    else step.lines.push(describe(field, from, to));
  }
  return [...steps.values()];
}

function describe(field: string, from: unknown, to: unknown): string {
  const name = WORDS[field] ?? fieldName(field);
  const [before, after] = [onOneLine(inWords(field, from)), onOneLine(inWords(field, to))];
  return before === undefined || after === undefined ? name : `${name}: ${before} → ${after}`;
}

/** Replaces the API's names of kinds and settings by those of the form. */
function inWords(field: string, value: unknown): unknown {
  if (field === 'processor_type') return KIND_NAMES[value as keyof typeof KIND_NAMES] ?? value;
  if (field !== 'processor_config' || !isObject(value)) return value;
  const settings = Object.entries(value);
  return settings
    .map(([name, set]) => `${fieldName(name)} ${SWITCHED.get(set) ?? JSON.stringify(set)}`)
    .join(', ');
}

/** Writes a value on one line; undefined when it does not fit. */
function onOneLine(value: unknown): string | undefined {
  if (value === undefined) return 'none';
  const isNames = Array.isArray(value) && value.every((item) => typeof item === 'string');
  const text = isNames ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= SHOWN_MAX && !text.includes('\n') ? text || 'empty' : undefined;
}

/** Orders the keys of each object, so that equal trees are written alike. Branches keep their order. */
export function inKeyOrder(steps: Step[]): Step[] {
  return ordered(steps) as Step[];
}

function ordered(value: unknown, keepsOrder = false): unknown {
  if (Array.isArray(value)) return value.map((item) => ordered(item));
  if (value === null || typeof value !== 'object') return value;
  const isStep = 'step_id' in value;
  const entries = Object.entries(value);
  if (!keepsOrder) entries.sort(([a], [b]) => (isStep ? rankOf(a) - rankOf(b) : 0) || (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, ordered(inner, isStep && key === 'branches')]),
  );
}

function rankOf(key: string): number {
  const first = FIRST.indexOf(key);
  if (first >= 0) return first;
  return FIRST.length + 1 + LAST.indexOf(key);
}
