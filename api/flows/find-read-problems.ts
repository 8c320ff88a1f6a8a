import type { FlowDefinition, SequentialStep, Step } from '../../flow/definition.ts';
import type { findNearestName } from '../../flow/find-nearest-name.ts';
import { listVisibleSteps } from '../../flow/list-visible-steps.ts';
import { eachStep } from '../../flow/step-path.ts';
import type { CodeFindings } from '../../platform/javascript/read-code.ts';
import { listStepsNamed } from './list-steps-named.ts';

/** The most steps that a problem names. */
const NAMES_SHOWN = 10;
/** The most letters of a name that is shown; a step_id has at most 64. */
const NAME_MAX_LENGTH = 64;

/**
 * Describes the steps that a block names and cannot see, one text each, with the suggestion of `findNearest`
 * (docs/blocks.md, Outputs of earlier steps).
 */
export function findReadProblems(
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
