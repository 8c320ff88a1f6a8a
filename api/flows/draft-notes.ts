// Notes: what is no problem of a flow, but keeps it from working well.
import type { Block, FlowDefinition, Json } from '../../flow/definition.ts';
import { BLOCK_RUNS_MAX } from '../../flow/limits.ts';
import { countMostRuns } from '../../flow/plan.ts';
import { eachStep } from '../../flow/step-path.ts';
import { listVariables, toText } from '../../flow/template.ts';
import { findIdleSchemas, type IdleSchema } from '../../platform/json-schema/find-idle-schemas.ts';
import type { Problem } from './file-problems.ts';
import type { CodeOf } from './read-code-of.ts';

/** Finds what keeps a flow from working well, on any service. */
export function findNotes(definition: FlowDefinition, codeOf: CodeOf): Problem[] {
  return [
    ...noteUnusedFields(definition),
    ...noteTemplatesElsewhere(definition),
    ...noteLongLoops(definition),
    ...noteCodeWithoutReturn(definition, codeOf),
    ...noteUndefinedNames(definition, codeOf),
    ...noteIdleSchemas(definition),
  ];
}

/**
 * Reports fields that have no effect in their kind of block (docs/blocks.md). The API allows every field in every
 * block.
 */
export function noteUnusedFields(definition: FlowDefinition): Problem[] {
  return noteBlocks(definition, ({ processor_type, model, prompt, processor_config }) => {
    if (processor_type === 'llm') {
      const { tools_enabled, max_tool_iterations: most } = processor_config ?? {};
      if (tools_enabled || most === undefined) return [];
      const field = 'processor_config.max_tool_iterations';
      return [{ field, message: 'Without effect in a block without tools_enabled.' }];
    }
    const isCode = processor_type === 'code';
    const settings = Object.keys(processor_config ?? {}).filter((key) => !isCode || key !== 'timeout_ms');
    const unused = [
      ...(model === undefined ? [] : ['model']),
      ...(isCode || prompt === undefined ? [] : ['prompt']),
      ...settings.map((key) => `processor_config.${key}`),
    ];
    if (unused.length === 0) return [];
    return [{ message: `Without effect in a ${processor_type} block: ${unused.join(', ')}.` }];
  });
}

/** Reports variables in fields that are used as they are; only the prompt of an llm block takes variables. */
export function noteTemplatesElsewhere(definition: FlowDefinition): Problem[] {
  return noteBlocks(
    definition,
    ({ processor_type, prompt, processor_config = {}, inputSchema, outputSchema }) => {
      if (processor_type === 'passthrough') return [];
      const isModel = processor_type === 'llm';
      const texts = {
        ...(isModel && {
          'processor_config.system': processor_config.system,
          'processor_config.stop': processor_config.stop,
          'processor_config.messages': processor_config.messages,
        }),
        ...(!isModel && { prompt }),
        inputSchema,
        outputSchema,
      };
      return Object.entries(texts).flatMap(([field, value]) => {
        const [variable] = listVariables(toText((value ?? '') as Json));
        const instead = isModel
          ? 'Variables work in the prompt of the block.'
          : 'Use the variables of code, such as message.';
        return variable
          ? [{ field, message: `${field} takes no variables: ${variable} stays as it is. ${instead}` }]
          : [];
      });
    },
  );
}

/** Reports the loops that may exceed what a run executes; where only all of them together may, the flow. */
export function noteLongLoops(definition: FlowDefinition): Problem[] {
  let reported = '';
  const notes = [...eachStep(definition)].flatMap(({ step, path }) => {
    const at = path.join('/');
    const isInside = reported !== '' && at.startsWith(reported);
    if (step.type !== 'loop' || isInside || countMostRuns([step]) <= BLOCK_RUNS_MAX) return [];
    reported = `${at}/`;
    const perIteration = countMostRuns(step.body);
    const fit = Math.floor(BLOCK_RUNS_MAX / perIteration);
    const message = `The loop may run ${step.max_iterations} iterations of ${perIteration} blocks. A run executes at most ${BLOCK_RUNS_MAX} blocks, so it would fail with more than ${fit} iterations.`;
    return { path: [...path, 'max_iterations'], message };
  });
  const most = countMostRuns(definition.steps);
  if (notes.length > 0 || most <= BLOCK_RUNS_MAX) return notes;
  const message = `With all iterations of its loops, the flow has ${most} block executions. A run executes at most ${BLOCK_RUNS_MAX}, and would fail with more.`;
  return [{ path: ['steps'], message }];
}

function noteCodeWithoutReturn(definition: FlowDefinition, codeOf: CodeOf): Problem[] {
  return noteBlocks(definition, (block) =>
    codeOf(block).returnsNothing
      ? [{ field: 'prompt', message: 'The code never returns a value, so the output is null: add a return.' }]
      : [],
  );
}

function noteUndefinedNames(definition: FlowDefinition, codeOf: CodeOf): Problem[] {
  return noteBlocks(definition, (block) => {
    const { undefinedNames: names = [] } = codeOf(block);
    if (names.length === 0) return [];
    const message = `The code uses ${names.join(', ')}, which ${names.length > 1 ? 'are' : 'is'} not defined. It has input, message, parameters and outputs, but no fetch, require, import, timers or files.`;
    return [{ field: 'prompt', message }];
  });
}

function noteIdleSchemas(definition: FlowDefinition): Problem[] {
  return noteBlocks(definition, (block) =>
    (['inputSchema', 'outputSchema'] as const).flatMap((field) =>
      findIdleSchemas(block[field] ?? true).map((idle) => ({ field, message: describeIdleSchema(idle) })),
    ),
  );
}

export function describeIdleSchema({ pointer, keys }: IdleSchema): string {
  return `${pointer === '' ? 'The schema' : `The part at ${pointer}`} checks nothing: ${keys.join(', ')} ${keys.length > 1 ? 'are no keywords' : 'is no keyword'} of JSON Schema. Name the fields of an object inside properties.`;
}

/** Makes notes about the blocks of a flow, each about a field or about the whole block. */
export function noteBlocks(
  definition: FlowDefinition,
  note: (block: Block) => { field?: string; message: string }[],
): Problem[] {
  return [...eachStep(definition)].flatMap(({ step, path }) =>
    step.type === 'sequential'
      ? note(step).map(({ field, message }) => ({
          path: field ? [...path, ...field.split('.')] : path,
          message,
        }))
      : [],
  );
}
