import { findChangedNumber, isObject } from '../../ui/json/read-json.ts';
import { deriveStepId } from './edit-steps.ts';
import type { Step } from './steps.ts';

/**
 * Parses pasted steps: a step, a list of steps or a flow file, as JSON or YAML. Throws an error whose message is for
 * the user: ChangedNumber where the text is understood.
 */
export async function parseSteps(text: string): Promise<Step[]> {
  const value = await parseText(text);
  const written = isObject(value) ? (Array.isArray(value.steps) ? value.steps : [value]) : value;
  const refused = new Error(
    'The clipboard holds no steps. Copy a step, or steps of a flow file, as JSON or YAML.',
  );
  if (!Array.isArray(written) || written.length === 0) throw refused;
  const taken = new Set<string>();
  return written.map((step) => {
    const complete = completeStep(step, taken);
    if (!complete) throw refused;
    return complete;
  });
}

/**
 * Parses JSON or YAML; undefined when the text is neither. Throws ChangedNumber, whose message is for the user, for a number that
 * would be rounded.
 */
export async function parseText(text: string): Promise<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return parseYaml(text);
  }
  refuseChanged(text);
  return value;
}

export class ChangedNumber extends Error {}

function refuseChanged(json: string): void {
  const changed = findChangedNumber(json);
  if (changed) throw new ChangedNumber(changed);
}

async function parseYaml(text: string): Promise<unknown> {
  const yaml = await import('yaml');
  const document = yaml.parseDocument(text, { schema: 'core' });
  if (document.errors.length > 0) return undefined;
  yaml.visit(document, {
    Scalar: (_, { value, source = '' }) => {
      if (typeof value === 'number')
        refuseChanged(/^0[xo]/.test(source) ? String(BigInt(source)) : source.replace(/^\+/, ''));
    },
  });
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}

/** Fills in what a flow file may omit; undefined when the value is not a step. The service checks the rest. */
function completeStep(written: unknown, taken: Set<string>): Step | undefined {
  if (!isObject(written)) return undefined;
  const { type = 'sequential', name, step_id } = written;
  const isStep =
    (type === 'sequential' && typeof written.processor_type === 'string') ||
    (type === 'parallel' && isObject(written.branches)) ||
    (type === 'loop' && Array.isArray(written.body));
  if (!isStep) return undefined;
  const id = typeof step_id === 'string' ? step_id : deriveStepId(String(name ?? ''), String(type), taken);
  taken.add(id);
  const complete: Record<string, unknown> = {
    ...written,
    type,
    step_id: id,
    name: typeof name === 'string' ? name : id,
  };
  const within = (list: unknown) =>
    Array.isArray(list) ? list.map((step) => completeStep(step, taken)) : [];
  const lists: unknown[][] = [];
  if (type === 'loop') {
    complete.max_iterations ??= 100;
    complete.body = within(written.body);
    lists.push(complete.body as unknown[]);
  }
  if (type === 'parallel') {
    const branches = Object.entries(written.branches as Record<string, unknown>).map(
      ([branch, list]) => [branch, within(list)] as const,
    );
    complete.branches = Object.fromEntries(branches);
    lists.push(...branches.map(([, list]) => list));
  }
  return lists.every((list) => list.length > 0 && list.every(Boolean))
    ? (complete as unknown as Step)
    : undefined;
}
