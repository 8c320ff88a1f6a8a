const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);
const STEP_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Derives a free step_id from a step's name, or from `fallback` when the name has no Latin letters or digits. */
export function deriveStepId(name: string, fallback: string, taken: ReadonlySet<string>): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replace(/^-|-$/g, '');
  const base = words || fallback;
  const isFree = (id: string) => !taken.has(id) && !RESERVED.has(id);
  let id = base;
  for (let next = 2; !isFree(id); next += 1) id = `${base}-${next}`;
  return id;
}

/** Returns the step_id if it is free, otherwise with the next free number: `sum-up`, `sum-up-2`. */
export function nextStepId(stepId: string, taken: ReadonlySet<string>): string {
  const [, base = stepId, number = '1'] = /^(.+)-(\d{1,6})$/.exec(stepId) ?? [];
  let id = stepId;
  for (let next = Number(number) + 1; taken.has(id); next += 1) id = `${base.slice(0, 56)}-${next}`;
  return id;
}

/** Returns why a text cannot be a step_id; undefined when it can. */
export function findStepIdProblem(stepId: string, taken: ReadonlySet<string>): string | undefined {
  if (!STEP_ID.test(stepId)) return 'Use 1 to 64 letters, digits, hyphens and underscores.';
  if (RESERVED.has(stepId)) return `${stepId} can't be a step_id.`;
  return taken.has(stepId) ? `Another step has the step_id ${stepId}.` : undefined;
}
