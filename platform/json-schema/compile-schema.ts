// Compiles schemas with Ajv under our rules: RE2 for patterns, formats that cannot backtrack, nothing shared between schemas.
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Json, JsonSchema } from '../../flow/definition.ts';
import { createSharedCache } from '../limits/shared-cache.ts';
import { compilePattern } from './compile-pattern.ts';
import { dialectOf } from './estimate-steps.ts';
import { FAST_FORMATS, STRICT_FORMATS } from './formats.ts';
import { COMPILED_MAX, COMPILED_MAX_LENGTH, VALUE_PROBLEMS_MAX } from './limits.ts';

/** A short one takes memory, too. */
const LENGTH_MIN = Math.floor(COMPILED_MAX_LENGTH / COMPILED_MAX);

/** Why a schema does not compile; `path` points into the schema, or `culprit` is the wrong string in it. */
export class CompilationError extends Error {
  readonly path: string | undefined;
  readonly culprit: string | undefined;
  constructor(message: string, place: { path?: string; culprit?: string }) {
    super(message);
    this.path = place.path;
    this.culprit = place.culprit;
  }
}

/** `path` is a JSON Pointer into the value, '' for the root. */
export type SchemaProblem = { path: string; message: string };

/** Finds the problems of a value, at most 10. */
export type CompiledSchema = (value: Json) => SchemaProblem[];

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  // Properties inherited from Object.prototype do not count.
  ownProperties: true,
  // 19.99 is a multiple of 0.01, although floating-point division says 1998.9999999999998.
  multipleOfPrecision: 9,
  logger: false,
};

const metaSchemas = { '2020-12': new Ajv2020(OPTIONS), 'draft-07': new Ajv(OPTIONS) };

/** Compiles a schema that `requireUsableSchema` accepted; throws CompilationError. */
function compileSchema(schema: JsonSchema): CompiledSchema {
  const dialect = dialectOf(schema);
  const meta = metaSchemas[dialect];
  if (!meta.validateSchema(schema)) {
    const [error] = meta.errors ?? [];
    throw new CompilationError(error ? messageOf(error) : 'it is not a JSON Schema', {
      path: error?.instancePath,
    });
  }
  const options = {
    ...OPTIONS,
    meta: false,
    validateSchema: false,
    code: { regExp: compileRegExp },
  } as const;
  const ajv = dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv, { mode: 'full', formats: [...STRICT_FORMATS] });
  formats.default(ajv, { mode: 'fast', formats: [...FAST_FORMATS] });
  const validate = compile(ajv, schema);
  return (value) => {
    if (validate(value)) return [];
    return (validate.errors ?? []).slice(0, VALUE_PROBLEMS_MAX).map((error) => ({
      path: error.instancePath,
      message: messageOf(error),
    }));
  };
}

function compile(ajv: Ajv, schema: JsonSchema): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (error instanceof CompilationError || error instanceof RangeError) throw error;
    if (error instanceof Ajv.MissingRefError) {
      const culprit = error.missingRef.slice(error.missingRef.indexOf('#'));
      throw new CompilationError(
        'nothing in the schema is at this reference: copy what it means into $defs, and refer to #/$defs/name',
        { culprit },
      );
    }
    throw new CompilationError(error instanceof Error ? error.message : String(error), {});
  }
}

/** Ajv writes its name into the code that it compiles. */
function compileRegExp(pattern: string): { test(text: string): boolean; toString(): string } {
  try {
    return compilePattern(pattern);
  } catch (error) {
    throw new CompilationError((error as Error).message, { culprit: pattern });
  }
}
compileRegExp.code = 'compileRegExp';

function messageOf({ keyword, message = 'is not valid', params }: ErrorObject): string {
  const detail: unknown =
    params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName ?? params.allowedValues;
  if (keyword === 'const') return `must be ${cut(params.allowedValue)}`;
  return detail === undefined ? message : `${message}: ${cut(detail)}`;
}

function cut(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Creates the function that compiles a schema, given as its text, or takes it from a cache that organizations share. */
export function createCompiledSchemas(): (organization: string, text: string) => CompiledSchema {
  const cache = createSharedCache<CompiledSchema>(COMPILED_MAX_LENGTH);
  return function getCompiled(organization, text) {
    const known = cache.get(text);
    if (known) return known;
    const compiled = compileSchema(JSON.parse(text));
    cache.set(organization, text, compiled, Math.max(text.length, LENGTH_MIN));
    return compiled;
  };
}
