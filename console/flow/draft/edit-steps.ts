// Edits of a tree of steps. Each returns a new tree and does not change the given one.
import {
  changeStep,
  eachStep,
  findStep,
  mapLists,
  type Place,
  type Step,
  type StepList,
  stepIdsOf,
} from './steps.ts';

const RESERVED = new Set(['__proto__']);
const STEP_ID = /^[A-Za-z0-9_-]{1,64}$/;

export function insertStep(steps: Step[], place: Place, step: Step): Step[] {
  return mapLists(steps, (list, at) => (isSameList(at, place) ? list.toSpliced(place.index, 0, step) : list));
}

/** Returns the place before (0) or after (1) a step; the end of the flow for an unknown step. */
export function placeBeside(steps: Step[], stepId: string | undefined, offset: 0 | 1): Place {
  const found = findStep(steps, stepId);
  if (!found) return { parent: null, index: steps.length };
  return { ...found.place, index: found.place.index + offset };
}

/** Removes a step with its inner steps, and the branches, parallel and loop steps that become empty. */
export function removeStep(steps: Step[], stepId: string): Step[] {
  return removeWhere(steps, (step) => step.step_id === stepId);
}

/**
 * Moves a step to a place in the tree as it was before the move, and removes lists that become empty. A place inside
 * the step itself, or its current one, changes nothing.
 */
export function moveStep(steps: Step[], stepId: string, place: Place): Step[] {
  const found = findStep(steps, stepId);
  if (!found || stepIdsOf([found.step]).has(place.parent ?? '')) return steps;
  const { index } = found.place;
  if (isSameList(found.place, place) && (place.index === index || place.index === index + 1)) return steps;
  const gap: Step = { type: 'sequential', step_id: '', name: '', processor_type: 'passthrough' };
  const marked = changeStep(steps, stepId, () => gap);
  return removeWhere(insertStep(marked, place, found.step), (step) => step === gap);
}

/** Moves a step up (-1) or down (1) by one in its list; at the end of an inner list, out of the enclosing step. */
export function shiftStep(steps: Step[], stepId: string, by: -1 | 1): Step[] {
  const found = findStep(steps, stepId);
  if (!found) return steps;
  const { place } = found;
  const index = place.index + by;
  if (index >= 0 && index < found.steps.length)
    return moveStep(steps, stepId, { ...place, index: by < 0 ? index : index + 1 });
  return place.parent === null
    ? steps
    : moveStep(steps, stepId, placeBeside(steps, place.parent, by < 0 ? 0 : 1));
}

/** Copies a step with its inner steps, under free step_ids. References between the copied steps point to the copies. */
export function copyStep(step: Step, taken: ReadonlySet<string>): Step {
  const names = new Map<string, string>();
  const used = new Set(taken);
  for (const { step: inner } of eachStep([step])) {
    const stepId = nextStepId(inner.step_id, used);
    used.add(stepId);
    names.set(inner.step_id, stepId);
  }
  const [copy] = renameSteps([step], names);
  return copy as Step;
}

/** Changes a step_id, and with it the template variables and `outputs` in code that refer to it. */
export function renameStep(steps: Step[], from: string, to: string): Step[] {
  return renameSteps(steps, new Map([[from, to]]));
}

/**
 * Returns the step_id that a step takes over from its new name: undefined when its step_id was not derived from the name
 * before, when a prompt or code refers to it, or when it stays the same.
 */
export function followName(steps: Step[], step: Step, nameBefore: string): string | undefined {
  const { step_id, name } = step;
  const others = stepIdsOf(steps);
  others.delete(step_id);
  const next = deriveStepId(name, 'step', others);
  if (name.trim() === '' || next === step_id || deriveStepId(nameBefore, 'step', others) !== step_id)
    return undefined;
  const prompts = (tree: Step[]) =>
    [...eachStep(tree)].map(({ step }) => (step.type === 'sequential' ? step.prompt : undefined));
  const isReferred = String(prompts(steps)) !== String(prompts(renameStep(steps, step_id, next)));
  return isReferred ? undefined : next;
}

/** Replaces a parallel or loop step with its inner steps, branch after branch. */
export function unwrapStep(steps: Step[], stepId: string): Step[] {
  return mapLists(steps, (list) =>
    list.some((step) => step.step_id === stepId)
      ? list.flatMap((step) => {
          if (step.step_id !== stepId || step.type === 'sequential') return step;
          return step.type === 'loop' ? step.body : Object.values(step.branches).flat();
        })
      : list,
  );
}

/** Removes matching steps, and the branches, parallel and loop steps that become empty. */
function removeWhere(steps: Step[], isRemoved: (step: Step) => boolean): Step[] {
  return mapLists(steps, (list) => {
    const kept = list.flatMap((step) => (isRemoved(step) ? [] : withoutEmpty(step)));
    return kept.length === list.length && kept.every((step, index) => step === list[index]) ? list : kept;
  });
}

function withoutEmpty(step: Step): Step | [] {
  if (step.type === 'loop') return step.body.length > 0 ? step : [];
  if (step.type !== 'parallel') return step;
  const branches = Object.entries(step.branches);
  const full = branches.filter(([, inner]) => inner.length > 0);
  if (full.length === branches.length) return step;
  return full.length > 0 ? { ...step, branches: Object.fromEntries(full) } : [];
}

function isSameList(a: StepList, b: StepList): boolean {
  return a.parent === b.parent && a.branch === b.branch;
}

function renameSteps(steps: Step[], names: ReadonlyMap<string, string>): Step[] {
  return mapLists(steps, (list) => list.map((step) => renameIn(step, names)));
}

const TEMPLATE_STEP = /(?<=(?<!\\)(?:\\\\)*)(\{\{\s*steps\.)([A-Za-z0-9_-]+)/g;
const CODE_STEP = /(?<![\w$.])outputs(?:\s*\[\s*(['"])([\w-]+)\1\s*\]|\s*\.\s*([A-Za-z_$][\w$]*))/g;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function renameIn(step: Step, names: ReadonlyMap<string, string>): Step {
  const renamed = { ...step, step_id: names.get(step.step_id) ?? step.step_id };
  if (renamed.type !== 'sequential' || renamed.prompt === undefined) return renamed;
  if (renamed.processor_type === 'llm')
    renamed.prompt = renamed.prompt.replace(
      TEMPLATE_STEP,
      (_text, start: string, id: string) => start + (names.get(id) ?? id),
    );
  if (renamed.processor_type === 'code')
    renamed.prompt = renamed.prompt.replace(CODE_STEP, (text, _quote, quoted?: string, dotted?: string) => {
      const to = names.get(quoted ?? dotted ?? '');
      if (to === undefined) return text;
      return dotted !== undefined && IDENTIFIER.test(to) ? `outputs.${to}` : `outputs['${to}']`;
    });
  return renamed;
}

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
function nextStepId(stepId: string, taken: ReadonlySet<string>): string {
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
