import type { components } from '../../api/schema.d.ts';

type Change = components['schemas']['FlowDifference']['changes'][number];

export type ChangedStep = { stepId: string | null; lines: string[]; kind: 'added' | 'removed' | 'changed' };

const SHOWN_MAX = 60;
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
  const name = WORDS[field] ?? field;
  const [before, after] = [onOneLine(from), onOneLine(to)];
  return before === undefined || after === undefined ? name : `${name}: ${before} → ${after}`;
}

/** Writes a value on one line; undefined when it does not fit. */
function onOneLine(value: unknown): string | undefined {
  if (value === undefined) return 'none';
  const isNames = Array.isArray(value) && value.every((item) => typeof item === 'string');
  const text = isNames ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= SHOWN_MAX && !text.includes('\n') ? text || 'empty' : undefined;
}
