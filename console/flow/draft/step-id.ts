const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);
const STEP_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Derives a step_id that is not taken from a step's name, or from `fallback` if the name has no letters or digits. */
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

/** The step_id itself if it is free, otherwise the next one with a number that is: `sum-up`, `sum-up-2`. */
export function nextStepId(stepId: string, taken: ReadonlySet<string>): string {
  const [, base = stepId, number = '1'] = /^(.+)-(\d{1,6})$/.exec(stepId) ?? [];
  let id = stepId;
  for (let next = Number(number) + 1; taken.has(id); next += 1) id = `${base.slice(0, 56)}-${next}`;
  return id;
}

/** Says why a text cannot be a step_id beside the ones that are taken; undefined when it can. */
export function findStepIdProblem(stepId: string, taken: ReadonlySet<string>): string | undefined {
  if (!STEP_ID.test(stepId)) return 'Use 1 to 64 letters, digits, hyphens and underscores.';
  if (RESERVED.has(stepId)) return `${stepId} can't be a step_id.`;
  return taken.has(stepId) ? `Another step has the step_id ${stepId}.` : undefined;
}
