// The rules of a tree of steps that its shape alone cannot express (docs/flow-file.md). Who checks when:
// - a flow file: `parseFlowFile` and `parseDraftFile`, all problems at once;
// - a draft that is written: `requireFewSteps`, before its shape is checked; then `requireSound`, which lets it be incomplete;
// - a draft that is published: `requireComplete`; by an operator, or when a draft is run or tested: `requireRunnable`;
// - a published version that is run: its shape alone (`findShapeProblems`); by a call of /step: `requireSoundTree` too.
import {
  type Block,
  type FlowDefinition,
  type LoopStep,
  type ParallelStep,
  PROCESSOR_TYPES,
  type SequentialStep,
} from './definition.ts';
import { isObject } from './json.ts';
import {
  BRANCHES_MAX,
  CODE_TIMEOUT_MAX_MS,
  CONDITION_MAX_LENGTH,
  FLOW_STEPS_MAX,
  LOOP_ITERATIONS_MAX,
  STEP_DEPTH_MAX,
} from './limits.ts';
import { eachStep, formatPath, type PathSegment } from './step-path.ts';

type ShapeProblem = Omit<TreeProblem, 'incomplete'>;

/** Steps and branches cannot have these names, which mean something else as keys of an object. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(['__proto__']);

/** `incomplete`: something is still missing, as in an unfinished draft; otherwise something is wrong. */
export type TreeProblem = { path: PathSegment[]; message: string; incomplete: boolean };

const MODEL = /^[^/\s]+\/\S+$/;
/** RFC 6901 */
const JSON_POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** Lists the problems of a well-formed tree, with paths for programs. Returns [] for a flow that can run. */
export function findTreeProblems(definition: FlowDefinition): TreeProblem[] {
  const problems: TreeProblem[] = [];
  const placed = new Map<string, string>();
  let count = 0;
  for (const { step, path, depth } of eachStep(definition)) {
    const report = (field: PathSegment[], message: string, incomplete = false) =>
      problems.push({ path: [...path, ...field], message, incomplete });
    count += 1;
    const first = placed.get(step.step_id);
    if (first !== undefined)
      report(['step_id'], `${JSON.stringify(step.step_id)} is already the step_id of ${first}.`);
    else placed.set(step.step_id, formatPath(path));
    if (RESERVED_NAMES.has(step.step_id)) report(['step_id'], `${step.step_id} can't be a step_id.`);
    if (step.type === 'sequential') checkBlock(step, depth, report);
    else if (depth >= STEP_DEPTH_MAX)
      report([], `Parallel and loop steps can be nested at most ${STEP_DEPTH_MAX} deep.`);
    if (step.type === 'parallel') checkParallel(step, report);
    if (step.type === 'loop') checkLoop(step, report);
  }
  if (count > FLOW_STEPS_MAX)
    problems.push({ path: ['steps'], message: tooManySteps(count), incomplete: false });
  return problems;
}

export function tooManySteps(count: number): string {
  return `A flow has at most ${FLOW_STEPS_MAX} steps, nested ones included; this one has ${count}.`;
}

export function tooManyBranches(count: number): string {
  return `A parallel step has at most ${BRANCHES_MAX} branches; this one has ${count}.`;
}

type Report = (field: PathSegment[], message: string, incomplete?: boolean) => void;

function checkBlock(block: SequentialStep, depth: number, report: Report): void {
  if (block.processor_type === 'llm' && !MODEL.test(block.model ?? ''))
    report(
      ['model'],
      'A model block needs a model with its provider in front, as provider/model.',
      block.model === undefined,
    );
  if (block.processor_type === 'llm' && !block.prompt)
    report(['prompt'], 'A model block needs a prompt.', true);
  if (block.processor_type === 'code' && !block.prompt)
    report(['prompt'], 'A code block needs its JavaScript in prompt.', true);
  checkConfig(block, report);
  if (!block.processor_config?.tools_enabled) return;
  const field = ['processor_config', 'tools_enabled'];
  if (block.processor_type !== 'llm') report(field, 'Only a model block can call tools.');
  if (depth > 0) report(field, 'A block inside a parallel or loop step cannot call tools.');
}

function checkConfig(block: SequentialStep, report: Report): void {
  const tooLong = findTimeoutProblem(block.processor_type, block.processor_config);
  if (tooLong) report(['processor_config', 'timeout_ms'], tooLong);
  const unusable = findOnLengthProblem(block);
  if (unusable) report(['processor_config', 'on_length'], unusable);
}

function checkParallel(step: ParallelStep, report: Report): void {
  const branches = Object.entries(step.branches);
  if (branches.length === 0) report(['branches'], 'A parallel step needs at least one branch.');
  if (branches.length > BRANCHES_MAX) report(['branches'], tooManyBranches(branches.length));
  for (const [name, steps] of branches) {
    if (steps.length === 0) report(['branches', name], 'A branch needs at least one step.');
    if (RESERVED_NAMES.has(name)) report(['branches', name], `${name} can't be the name of a branch.`);
  }
}

function checkLoop(step: LoopStep, report: Report): void {
  if (step.body.length === 0) report(['body'], 'The body of a loop needs at least one step.');
  const { max_iterations: most } = step;
  if (!Number.isInteger(most) || most < 1 || most > LOOP_ITERATIONS_MAX)
    report(['max_iterations'], `max_iterations must be a whole number from 1 to ${LOOP_ITERATIONS_MAX}.`);
  if (step.until && !JSON_POINTER.test(step.until.pointer))
    report(['until', 'pointer'], 'A JSON Pointer is empty or starts with a slash, such as /done.');
  if (step.until && JSON.stringify(step.until).length > CONDITION_MAX_LENGTH)
    report(['until'], `A condition has at most ${CONDITION_MAX_LENGTH} characters as JSON.`);
}

/** Says why a block of this type cannot have this `timeout_ms`; undefined when it can. */
export function findTimeoutProblem(
  type: Block['processor_type'],
  config: Block['processor_config'] = {},
): string | undefined {
  if (type !== 'code' || (config.timeout_ms ?? 0) <= CODE_TIMEOUT_MAX_MS) return undefined;
  return `The timeout_ms of a code block is at most ${CODE_TIMEOUT_MAX_MS}.`;
}

/** Says why a block cannot accept an answer that was cut off; undefined when it can, or does not. */
export function findOnLengthProblem({
  outputSchema,
  processor_config: config = {},
}: Pick<Block, 'outputSchema' | 'processor_config'>): string | undefined {
  if (config.on_length !== 'accept' || (outputSchema === undefined && !config.tools_enabled))
    return undefined;
  return 'Only text can be accepted when it was cut off: remove the outputSchema and tools_enabled, or on_length.';
}

/** Finds what keeps a definition from being walked, from the outside in; [] when `findTreeProblems` can do the rest. */
export function findShapeProblems(definition: unknown): ShapeProblem[] {
  return checkSteps((definition as { steps?: unknown } | null)?.steps, ['steps']);
}

function checkSteps(steps: unknown, path: PathSegment[]): ShapeProblem[] {
  if (!Array.isArray(steps)) return [{ path, message: 'Steps must be an array.' }];
  return steps.flatMap((step, index) => checkStep(step, [...path, index]));
}

function checkStep(step: unknown, path: PathSegment[]): ShapeProblem[] {
  if (!isObject(step)) return [{ path, message: 'A step must be an object.' }];
  const { type, step_id, name, processor_type } = step;
  if (typeof step_id !== 'string' || typeof name !== 'string')
    return [{ path, message: 'A step needs a step_id and a name.' }];
  if (type === 'loop') return checkSteps(step.body, [...path, 'body']);
  if (type === 'parallel') {
    const at = [...path, 'branches'];
    if (!isObject(step.branches)) return [{ path: at, message: 'Branches must be an object.' }];
    return Object.entries(step.branches).flatMap(([branch, steps]) => checkSteps(steps, [...at, branch]));
  }
  if (type !== 'sequential')
    return [{ path: [...path, 'type'], message: 'The type must be sequential, parallel or loop.' }];
  return PROCESSOR_TYPES.some((known) => known === processor_type)
    ? []
    : [
        {
          path: [...path, 'processor_type'],
          message: `The processor_type must be one of ${PROCESSOR_TYPES.join(', ')}.`,
        },
      ];
}
