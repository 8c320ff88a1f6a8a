import type { VariableScope } from '../../ui/code-editor/editor-types.ts';
import { findVariables } from '../../ui/code-editor/find-variables.ts';
import { isObject } from '../../ui/json/read-json.ts';
import { eachStep, listsInside, type Step, stepIdsOf } from '../draft/steps.ts';

type OutputField = { path: string; type: string };

const DEPTH_MAX = 4;
const FIELDS_MAX = 100;

const FORMS = '{{message}}, {{previous_output}}, {{parameters.<key>}} and {{steps.<step_id>}}';
const CODE_PARAMETER = /(?<![\w$.])parameters\s*\??\.\s*([A-Za-z_$][\w$]*)/g;

/**
 * Returns the variables that a step's prompt can use: those of every run, and outputs of steps that have ended by then.
 */
export function variableScope(steps: Step[], stepId: string): VariableScope {
  const visible = new Map(listVisible(steps, stepId)?.map((step) => [step.step_id, step]));
  const all = stepIdsOf(steps);
  const ofSteps = [...visible.values()].flatMap((step) => {
    const name = `steps.${step.step_id}`;
    const fields = fieldsOf(step, '', DEPTH_MAX).slice(0, FIELDS_MAX);
    return [
      { name, detail: step.name },
      ...fields.map(({ path, type }) => ({ name: `${name}.${path}`, detail: type })),
    ];
  });
  return {
    variables: [
      { name: 'message', detail: 'the message of the run' },
      { name: 'previous_output', detail: 'the output of the step before' },
      ...listParameters(steps).map((key) => ({
        name: `parameters.${key}`,
        detail: 'a parameter of the run',
      })),
      ...ofSteps,
    ],
    findProblem(name) {
      const [root, id = '', ...path] = name.split('.');
      const isPlain = name === 'message' || name === 'previous_output';
      if (isPlain || (root === 'parameters' && isPath(name))) return undefined;
      if (root !== 'steps' || !isPath(name))
        return `There is no variable {{${name}}}. The variables are ${FORMS}.`;
      const step = visible.get(id);
      if (step) return findPathProblem(step, path);
      if (all.has(id))
        return `The step ${id} has not ended before this block begins, or is inside a step that this block is not in.`;
      return `There is no step ${id}. ${describeVisible([...visible.keys()])}`;
    },
  };
}

function isPath(name: string): boolean {
  return /^(?:parameters|steps)(?:\.[A-Za-z0-9_-]+)+$/.test(name);
}

function describeVisible(ids: string[]): string {
  if (ids.length === 0) return 'No step has ended by then.';
  return `The steps whose outputs can be read here: ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ', …' : ''}.`;
}

/** Finds the first key of a path that the step's output cannot have. */
function findPathProblem(step: Step, [key]: string[]): string | undefined {
  if (key === undefined) return undefined;
  if (step.type === 'parallel' && !Object.hasOwn(step.branches, key))
    return `The step ${step.step_id} has no branch ${key}. Its branches: ${Object.keys(step.branches).join(', ')}.`;
  if (step.type !== 'sequential' || typeof step.outputSchema !== 'object') return undefined;
  const { properties, additionalProperties } = step.outputSchema;
  if (additionalProperties !== false || typeof properties !== 'object' || properties === null)
    return undefined;
  if (Object.hasOwn(properties, key)) return undefined;
  return `The output of ${step.step_id} has no field ${key}. Its fields: ${Object.keys(properties).join(', ')}.`;
}

/** Lists the steps that have ended when a step begins: those before it in its list, and before each enclosing step. */
function listVisible(steps: Step[], stepId: string): Step[] | undefined {
  for (const [index, step] of steps.entries()) {
    const before = steps.slice(0, index);
    if (step.step_id === stepId) return before;
    for (const inner of listsInside(step)) {
      const visible = listVisible(inner.steps, stepId);
      if (visible) return [...before, ...visible];
    }
  }
  return undefined;
}

/** Lists the parameters that prompts and code of a flow refer to, in order. */
export function listParameters(steps: Step[]): string[] {
  const keys = [...eachStep(steps)].flatMap(({ step }) => {
    if (step.type !== 'sequential' || !step.prompt) return [];
    if (step.processor_type === 'code')
      return Array.from(step.prompt.matchAll(CODE_PARAMETER), ([, key = '']) => key);
    return findVariables(step.prompt)
      .filter(({ name, isKnownForm }) => isKnownForm && name.startsWith('parameters.'))
      .map(({ name }) => name.slice('parameters.'.length));
  });
  return [...new Set(keys)];
}

/** Lists paths into a step's output, from its JSON Schemas, branches and body. */
function fieldsOf(step: Step, path: string, depth: number): OutputField[] {
  if (depth === 0) return [];
  if (step.type === 'sequential') return fieldsOfSchema(step.outputSchema, path, depth);
  if (step.type === 'loop') return lastOf(step.body, join(path, '0'), 'the first output', depth);
  return Object.entries(step.branches).flatMap(([branch, steps]) =>
    // A branch name with other characters cannot be part of a variable.
    /^[A-Za-z0-9_-]+$/.test(branch) ? lastOf(steps, join(path, branch), 'a branch', depth) : [],
  );
}

function lastOf(steps: Step[], path: string, type: string, depth: number): OutputField[] {
  const last = steps.at(-1);
  return [{ path, type }, ...(last ? fieldsOf(last, path, depth - 1) : [])];
}

function fieldsOfSchema(schema: unknown, path: string, depth: number): OutputField[] {
  if (depth === 0 || !isObject(schema)) return [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const fields = Object.entries(properties).filter(([key]) => /^[A-Za-z0-9_-]+$/.test(key));
  return [
    ...fields.flatMap(([key, inner]) => [
      { path: join(path, key), type: typeOf(inner) },
      ...fieldsOfSchema(inner, join(path, key), depth - 1),
    ]),
    ...(isObject(schema.items)
      ? [
          { path: join(path, '0'), type: typeOf(schema.items) },
          ...fieldsOfSchema(schema.items, join(path, '0'), depth - 1),
        ]
      : []),
  ];
}

function typeOf(schema: unknown): string {
  if (!isObject(schema)) return 'any value';
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  return typeof schema.type === 'string' ? schema.type : 'any value';
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
