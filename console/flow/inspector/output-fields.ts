import { isObject } from '../../ui/is-object.ts';
import type { Step } from '../draft/steps.ts';

type OutputField = { path: string; type: string };

const DEPTH_MAX = 4;
const FIELDS_MAX = 100;

/** Lists paths into a step's output, from its JSON Schemas, branches and body. */
export function listOutputFields(step: Step): OutputField[] {
  return fieldsOf(step, '', DEPTH_MAX).slice(0, FIELDS_MAX);
}

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
