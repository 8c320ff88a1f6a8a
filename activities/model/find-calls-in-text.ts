// Finds tool calls that a server has left in the text, as Hermes, Qwen, Llama and Mistral write them.
import { isObject } from '../../flow/json.ts';
import { JSON_DEPTH_MAX } from '../../flow/limits.ts';
import { parseExactly } from '../../platform/json-text/parse-exactly.ts';
import { HARMONY_MARK } from '../../platform/models/answers/read-content.ts';
import { isDeeper } from './is-deeper.ts';
import { ANSWER_TOOL_CALLS_MAX } from './read-tool-calls.ts';

type Call = { function: { name: string; arguments: string } };

/** The marks before a call, and after it. */
const MARKS = [
  ['<tool_call>', '</tool_call>'],
  ['<function=', '</function>'],
  ['[TOOL_CALLS]', '</s>'],
  ['<tool_calls>', '</tool_calls>'],
  ['<TOOLCALL>', '</TOOLCALL>'],
  ['<|tool_call|>', '<|/tool_call|>'],
  ['<|python_tag|>', '<|eom_id|>'],
  ['<|python_start|>', '<|python_end|>'],
  [HARMONY_MARK, HARMONY_MARK],
] as const;
/** Matches a text that is meant as a call, whether it can be read or not; the tokens of models are never spoken of. */
const MEANT =
  /^\s*(<(?:[\w-]{1,20}:)?(?:(?:tool_?calls?|function_calls|invoke)[\s>]|function=)|\[TOOL_CALLS\])|<\/(?:[\w-]{1,20}:)?(?:tool_?calls?|function_calls|invoke)>\s*$|<[|｜]{1,2}(?:tool[_▁]call|python_(?:tag|start)|action_start|START_ACTION|DSML)|^<\|channel\|>/i;
/** The end of a call before another one, where they are not in a list. */
const BETWEEN = /(?<=\})[^\S\n]*[;\n]\s*(?=\{)/;
/** One more than an answer may have: such an answer is refused. */
const VALUES_MAX = ANSWER_TOOL_CALLS_MAX + 1;
/** One block of code, and nothing else. */
const FENCED = /^\s*```\w*\s*([[{][\s\S]*)```\s*$/;
const MEMBERS = new Set(['name', 'arguments', 'parameters', 'type', 'id']);
/** A longer text is no call: no pause takes its arguments. */
const TEXT_MAX_LENGTH = 1024 * 1024;

/**
 * Returns the calls in a text and what is said before them; undefined where it has none, or anything that is no call of an offered
 * tool: a model may just speak of calls.
 */
export function findCallsInText(text: string, names: string[]): { calls: Call[]; said: string } | undefined {
  if (text.length > TEXT_MAX_LENGTH) return undefined;
  const [start, end] = MARKS.find(([mark]) => text.includes(mark)) ?? [];
  const [said = '', ...parts] = start ? text.split(start) : ['', FENCED.exec(text)?.[1] ?? text];
  const calls = parts.slice(0, VALUES_MAX).flatMap((part) => {
    const call = end ? (part.split(end)[0] ?? '') : part;
    // `name>{…}`, as Llama has it.
    const [, name, args = ''] = (start && /^([\w-]{1,64})>?\s*(\{[\s\S]*)$/.exec(call.trim())) || [];
    if (name !== undefined) return [toCall({ name, arguments: args }, names)];
    const whole = parse(call);
    const values = whole ? [whole] : call.split(BETWEEN, VALUES_MAX).map(parse);
    return values.flat().map((each) => toCall(each, names));
  });
  const found = calls.filter((call) => call !== undefined);
  return found.length > 0 && found.length === calls.length ? { calls: found, said: said.trim() } : undefined;
}

/** Whether a text is meant as a call of a tool, also in the way of Python. */
export function isMeantAsCall(text: string, names: string[]): boolean {
  const whole = text.trim();
  return MEANT.test(text) || (whole.endsWith(')]') && names.some((name) => whole.startsWith(`[${name}(`)));
}

function toCall(value: unknown, names: string[]): Call | undefined {
  if (!isObject(value) || !Object.keys(value).every((member) => MEMBERS.has(member))) return undefined;
  const { name, parameters, arguments: args = parameters } = value as { [member: string]: unknown };
  if (typeof name !== 'string' || !names.includes(name)) return undefined;
  const given = typeof args === 'string' ? parse(args) : args;
  if (!isObject(given) || isDeeper(given, JSON_DEPTH_MAX)) return undefined;
  return { function: { name, arguments: JSON.stringify(given) } };
}

/** Parses JSON whose numbers keep their digits; undefined for another text. */
function parse(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}
