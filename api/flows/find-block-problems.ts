// Finds problems that would fail a block at run time: code, variables and models (docs/flow-file.md).
import type { FlowDefinition, SequentialStep } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findNearestName } from '../../flow/find-nearest-name.ts';
import { eachStep } from '../../flow/step-path.ts';
import { findUnknownVariables } from '../../flow/template.ts';
import type { CodeFindings } from '../../platform/javascript/read-code.ts';
import { createRegistry } from '../../platform/models/registry.ts';
import type { Problem } from './describe-file-problems.ts';
import { findReadProblems } from './find-read-problems.ts';
import type { CodeOf } from './read-code-of.ts';

/** Maximum number of unknown variables that a problem names per prompt. */
const UNKNOWN_SHOWN = 5;
/** Maximum number of unknown steps in a flow for which a suggestion is computed. */
const NEAREST_MAX = 10;
const VARIABLE_NAMES = ['message', 'previous_output'];

/** The operator's list adds models, but no providers. */
const { capabilities } = createRegistry();

/** Finds code with syntax errors, unknown variables and steps, and models of unknown providers. */
export function findBlockProblems(definition: FlowDefinition, codeOf: CodeOf): Problem[] {
  let left = NEAREST_MAX;
  const findNearest: typeof findNearestName = (name, names) => {
    left -= 1;
    return left >= 0 ? findNearestName(name, names) : undefined;
  };
  return [...eachStep(definition)].flatMap(({ step, path }) => {
    if (step.type !== 'sequential') return [];
    const code = codeOf(step);
    const problems = step.processor_type === 'code' ? checkCode(code) : checkModelCall(step);
    for (const message of findReadProblems(definition, step, code, findNearest))
      problems.push({ field: 'prompt', message });
    return problems.map(({ field, ...problem }) => ({ path: [...path, field], ...problem }));
  });
}

type BlockProblem = Pick<Problem, 'message' | 'within'> & { field: 'prompt' | 'model' };

function checkCode({ problem }: CodeFindings): BlockProblem[] {
  if (!problem) return [];
  const { message, ...within } = problem;
  return [{ field: 'prompt', message, within }];
}

function checkModelCall({ processor_type, model, prompt = '' }: SequentialStep): BlockProblem[] {
  if (processor_type !== 'llm') return [];
  const problems: BlockProblem[] = [];
  try {
    if (model?.includes('/')) capabilities(model);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    problems.push({ field: 'model', message: error.message });
  }
  const unknown = findUnknownVariables(prompt).slice(0, UNKNOWN_SHOWN);
  if (unknown.length > 0)
    problems.push({
      field: 'prompt',
      message: `There is no variable ${unknown.map(withSuggestion).join(', ')}: the variables are {{message}}, {{previous_output}}, {{parameters.<key>}} and {{steps.<step_id>}}.`,
    });
  return problems;
}

function withSuggestion(unknown: string): string {
  const nearest = findNearestName(unknown.slice(2, -2).trim(), VARIABLE_NAMES);
  return nearest ? `${unknown} (did you mean {{${nearest}}}?)` : unknown;
}
