// Finds problems that would fail a block at run time: code, variables and models (docs/flow-file.md).
import type { Block, FlowDefinition, SequentialStep, Step } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findNearestName } from '../../flow/find-nearest-name.ts';
import { listVisibleSteps } from '../../flow/list-steps-read.ts';
import { eachStep } from '../../flow/step-path.ts';
import { findUnknownVariables, listTemplateSteps } from '../../flow/template.ts';
import type { CodeFindings } from '../../platform/javascript/read-code.ts';
import { findSettingProblems } from '../../platform/models/find-setting-problems.ts';
import type { Registry } from '../../platform/models/registry.ts';
import type { Problem } from './file-problems.ts';
import type { CodeOf } from './read-code-of.ts';

/** The most steps that a problem names. */
const NAMES_SHOWN = 10;

/** The most letters of a name that is shown; a step_id has at most 64. */
const NAME_MAX_LENGTH = 64;

/** Maximum number of unknown variables that a problem names per prompt. */
const UNKNOWN_SHOWN = 5;
/** Maximum number of unknown steps in a flow for which a suggestion is computed. */
const NEAREST_MAX = 10;
const VARIABLE_NAMES = ['message', 'previous_output'];

/** Finds code with syntax errors, and unknown variables and steps. */
export function findBlockProblems(definition: FlowDefinition, codeOf: CodeOf): Problem[] {
  let left = NEAREST_MAX;
  const findNearest: typeof findNearestName = (name, names) => {
    left -= 1;
    return left >= 0 ? findNearestName(name, names) : undefined;
  };
  return [...eachStep(definition)].flatMap(({ step, path }) => {
    if (step.type !== 'sequential') return [];
    const code = codeOf(step);
    const problems = step.processor_type === 'code' ? checkCode(code) : checkVariables(step);
    for (const message of findReadProblems(definition, step, code, findNearest)) problems.push({ message });
    return problems.map((problem) => ({ path: [...path, 'prompt'], ...problem }));
  });
}

/** Finds unknown providers, and settings that models do not take. */
export function findModelProblems(definition: FlowDefinition, registry: KnownModels): Problem[] {
  return [...eachStep(definition)].flatMap(({ step, path }) => {
    if (step.type !== 'sequential' || step.processor_type !== 'llm') return [];
    const unknown = findUnknownProvider(step, registry);
    return [
      ...(unknown === undefined ? [] : [{ path: [...path, 'model'], message: unknown }]),
      ...findSettingProblems(registry, step).map(({ setting, message }) => ({
        path: [...path, 'processor_config', setting],
        message,
      })),
    ];
  });
}

function findUnknownProvider({ model }: Block, registry: KnownModels): string | undefined {
  try {
    if (model?.includes('/')) registry.capabilities(model);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.message;
  }
}

/** The models that the service knows. */
export type KnownModels = Pick<Registry, 'capabilities' | 'find' | 'lists'>;

type PromptProblem = Pick<Problem, 'message' | 'within'>;

function checkCode({ problem }: CodeFindings): PromptProblem[] {
  if (!problem) return [];
  const { message, ...within } = problem;
  return [{ message, within }];
}

function checkVariables({ processor_type, prompt = '' }: SequentialStep): PromptProblem[] {
  if (processor_type !== 'llm') return [];
  const unknown = findUnknownVariables(prompt).slice(0, UNKNOWN_SHOWN);
  if (unknown.length === 0) return [];
  const message = `There is no variable ${unknown.map(withSuggestion).join(', ')}: the variables are {{message}}, {{previous_output}}, {{parameters.<key>}} and {{steps.<step_id>}}.`;
  return [{ message }];
}

function withSuggestion(unknown: string): string {
  const name = unknown.slice(2, -2).trim();
  const [, plain, path] = /^(message|previous_output)[.[](.+)$/.exec(name) ?? [];
  if (plain) return `${unknown} ({{${plain}}} takes no path; {{steps.<step_id>.${path}}} does)`;
  const nearest = findNearestName(name, VARIABLE_NAMES);
  return nearest ? `${unknown} (did you mean {{${nearest}}}?)` : unknown;
}

/**
 * Describes the steps that a block names and cannot see, one text each, with the suggestion of `findNearest`
 * (docs/blocks.md, Outputs of earlier steps).
 */
function findReadProblems(
  definition: FlowDefinition,
  block: SequentialStep,
  code: CodeFindings,
  findNearest: typeof findNearestName,
): string[] {
  const named = listStepsNamed(block, code);
  if (named.length === 0) return [];
  const before = listVisibleSteps<Step>(definition.steps, block) ?? [];
  const visible = new Set(before.map(({ step_id }) => step_id));
  const all = new Set([...eachStep(definition)].map(({ step }) => step.step_id));
  return named
    .filter((name) => !visible.has(name))
    .slice(0, NAMES_SHOWN)
    .map((name) => describe(name.slice(0, NAME_MAX_LENGTH), block, [...visible], all, findNearest));
}

function describe(
  name: string,
  block: SequentialStep,
  visible: string[],
  all: Set<string>,
  findNearest: typeof findNearestName,
): string {
  const asked = block.processor_type === 'code' ? `outputs.${name}` : `{{steps.${name}}}`;
  if (all.has(name))
    return `${asked}: the step ${name} has not ended before this block begins, or is inside a step that this block is not in. ${listNames(visible)}`;
  const nearest = findNearest(name, visible);
  return `${asked}: there is no step ${name}. ${nearest ? `Did you mean ${nearest}?` : listNames(visible)}`;
}

function listNames(visible: string[]): string {
  if (visible.length === 0) return 'No step has ended by then.';
  const more = visible.length > NAMES_SHOWN ? ', …' : '';
  return `The steps whose outputs can be read here: ${visible.slice(0, NAMES_SHOWN).join(', ')}${more}.`;
}

/**
 * Lists the steps whose outputs a block is known to read (docs/blocks.md, Outputs of earlier steps). `code`: the
 * findings in the block's code.
 */
export function listStepsNamed({ processor_type, prompt = '' }: Block, code: CodeFindings): string[] {
  return processor_type === 'llm' ? listTemplateSteps(prompt) : code.named;
}
