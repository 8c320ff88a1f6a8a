// A test case as its form holds it and as it is sent.
import type { components } from '../../api/schema.d.ts';
import { findChangedNumber, isObject, readJson } from '../../ui/json/read-json.ts';

/** The start of the form: a stored test case, or the input and result of a run. */
export type CaseDraft = Partial<Omit<components['schemas']['TestCase'], 'expectation'>> & {
  expectation?: Expectation;
} & {
  /** The ETag of the stored test case. */
  etag?: string;
  /** A note about a missing part. */
  note?: string;
};

/** The service's limit for a test case, in characters of JSON, input and expectation together. */
const CASE_MAX_CHARS = 500_000;
const LIMIT = `a test case has at most ${CASE_MAX_CHARS.toLocaleString('en')} characters, input and answer together`;

type SaveTestCase = components['schemas']['SaveTestCase'];
export type Expectation = SaveTestCase['expectation'];
type ToolResult = NonNullable<SaveTestCase['tool_results']>[number];
type Kind = Expectation['type'];

/** The form has one text for each kind, so that switching kinds loses nothing. */
export type ExpectationForm = {
  kind: Kind;
  value: string;
  schema: string;
  text: string;
  criteria: string;
  model: string;
};

export const KINDS: { id: Kind; label: string; description: string }[] = [
  { id: 'contains', label: 'Contains a text', description: 'The text is somewhere in the answer.' },
  { id: 'equals', label: 'Equals a value', description: 'The answer is exactly this JSON value.' },
  {
    id: 'json_schema',
    label: 'Matches a JSON Schema',
    description: 'The answer has the shape that the schema describes.',
  },
  {
    id: 'judge',
    label: 'Meets criteria',
    description: 'A model judges the answer by criteria in words; that costs a call.',
  },
];

export const EMPTY_EXPECTATION: ExpectationForm = {
  ...{ kind: 'contains', value: '', schema: '{\n  "type": "object"\n}', text: '', criteria: '', model: '' },
};

/** Fills the form with a stored expectation. */
export function toForm(expectation: Expectation): ExpectationForm {
  const form = { ...EMPTY_EXPECTATION, kind: expectation.type };
  switch (expectation.type) {
    case 'equals':
      return { ...form, value: JSON.stringify(expectation.value, null, 2) };
    case 'json_schema':
      return { ...form, schema: JSON.stringify(expectation.schema, null, 2) };
    case 'contains':
      return { ...form, text: expectation.text };
    case 'judge':
      return { ...form, criteria: expectation.criteria, model: expectation.model ?? '' };
  }
}

/** Parses the form. Nothing is sent while there is an error. */
export function parseExpectation(form: ExpectationForm): { expectation?: Expectation; error?: string } {
  const { kind, text, criteria, model } = form;
  if (kind === 'contains')
    return text === ''
      ? { error: 'Say which text the answer contains.' }
      : { expectation: { type: kind, text } };
  if (kind === 'judge') {
    if (criteria.trim() === '') return { error: 'Say what a good answer is.' };
    return { expectation: { type: kind, criteria, ...(model.trim() !== '' && { model: model.trim() }) } };
  }
  try {
    const written = kind === 'equals' ? form.value : form.schema;
    const value: unknown = JSON.parse(written);
    const changed = findChangedNumber(written);
    if (changed) return { error: changed };
    if (kind === 'equals') return { expectation: { type: kind, value } };
    if (typeof value !== 'boolean' && !isObject(value))
      return { error: 'Must be a JSON Schema as an object, such as {"type": "object"}.' };
    return { expectation: { type: kind, schema: value as Record<string, unknown> } };
  } catch (wrong) {
    const text = kind === 'equals' ? ' Put a text in quotes.' : '';
    return { error: `Must be JSON: ${wrong instanceof Error ? wrong.message : wrong}.${text}` };
  }
}

/** Describes an expectation in a few words. */
export function describeExpectation(expectation: Expectation): string {
  switch (expectation.type) {
    case 'equals':
      return `Equals ${JSON.stringify(expectation.value)}`;
    case 'json_schema':
      return 'Matches the JSON Schema';
    case 'contains':
      return `Contains “${expectation.text}”`;
    case 'judge':
      return `Meets, as ${expectation.model ?? 'the default model'} judges: ${expectation.criteria}`;
  }
}

/** Describes an expectation of a list, whose JSON may be cut off. */
export function describeListed(expected: string): string {
  try {
    return describeExpectation(JSON.parse(expected) as Expectation);
  } catch {
    return `${expected} …`;
  }
}

export function nameVersion(version: number): string {
  return version === 0 ? 'Draft' : `v${version}`;
}

/** Parses the recorded results of tools; undefined when there are none. */
export function parseToolResults(text: string): { results?: ToolResult[]; error?: string } {
  if (text.trim() === '') return {};
  const { value, error } = readJson(text);
  if (error !== undefined) return { error };
  const fits =
    Array.isArray(value) &&
    value.every((one) => isObject(one) && typeof one.name === 'string' && 'result' in one);
  if (fits) return { results: value as ToolResult[] };
  return { error: 'Must be a list such as [{"name": "look_up", "result": "found"}].' };
}

/**
 * Makes a test case from the input and result of a run; `ended` is undefined when there is no result. A result that is
 * too long is omitted with a note. Throws when the input is too long.
 */
export function getCaseOfRun(
  input: Pick<CaseDraft, 'message' | 'parameters'>,
  ended: { result: unknown } | undefined,
): CaseDraft {
  const length = JSON.stringify(input).length;
  if (length > CASE_MAX_CHARS)
    throw new Error(`The input of this run is too long for a test case: ${LIMIT}.`);
  if (!ended) return input;
  const value = ended.result;
  if (length + (JSON.stringify(value)?.length ?? 0) > CASE_MAX_CHARS)
    return { ...input, note: `The result of the run is not taken over, since it is too long: ${LIMIT}.` };
  return { ...input, expectation: { type: 'equals', value } };
}
