// Reads what a model says in a message of a chat completion, in any of the forms that servers give it.
import { isObject } from '../../../flow/json.ts';

type Fields = { [field: string]: unknown };

/** `text`: undefined where the content has no known form. `reasoning` is apart from it. */
export type Said = { text: string | undefined; reasoning: string; refusal: string };

/** The marks around reasoning that a server has left in the text, before everything else. */
const MARKS = [
  ['<(?<tag>(?:[a-z]{1,20}:|longcat_)?think|thinking)>', String.raw`<\/\k<tag>>`],
  [String.raw`\[THINK\]`, String.raw`\[\/THINK\]`],
  ['◁think▷', '◁/think▷'],
  [String.raw`<\|START_THINKING\|>`, String.raw`<\|END_THINKING\|>`],
  [String.raw`<\|begin_of_thought\|>`, String.raw`<\|end_of_thought\|>`],
  [String.raw`<\|channel>thought\b`, String.raw`<channel\|>`],
] as const;
/** Marks that authors ask for, too: only a pair of them is one. */
const PAIRS = [['<(?<tag>thought|reasoning)>', String.raw`<\/\k<tag>>`]] as const;
const THOUGHTS = [...MARKS, ...PAIRS].map(
  ([start, end]) => new RegExp(String.raw`^\s*${start}(?<thoughts>[\s\S]*?)${end}\s*`, 'i'),
);
/** Reasoning that does not end. */
const OPEN_THOUGHTS = MARKS.map(
  ([start, end]) => new RegExp(String.raw`^\s*${start}(?![\s\S]*${end})(?<thoughts>[\s\S]*)$`, 'i'),
);
/** The end of reasoning that began in the prompt; a tag in quotes, or within JSON, is only spoken of. */
const LATE_END = /(?<![`'"])(?:<\/(?:(?:[a-z]{1,20}:|longcat_)?think|thinking)>|\[\/THINK\]|◁\/think▷)\s*/;
const JSON_START = /^\s*[{["]/;
const TAGS = /<\/?(?:(?:[a-z]{1,20}:|longcat_)?think|thinking)>|\[\/?THINK\]|◁\/?think▷/g;
/** Tokens that servers leave around an answer. */
const TOKENS = /<\|(?:(?:START|END)_RESPONSE|(?:begin|end)_of_(?:box|solution))\|>/g;
/** Such a token at the end of an answer, and the length of its end in which one is looked for: there may be very many. */
const LAST_TOKEN = /<(?:\|(?:im_end|eot_id|end|endoftext|end_of_text|return)\||end_of_turn)>\s*$/;
const END_LENGTH = 40;
/** The channels of gpt-oss, of which only `final` is the answer. */
const HARMONY = /^\s*(?:<\|start\|>[\w .=]{0,100})?<\|channel\|>/;
const CHANNEL =
  /<\|channel\|>\s*(\w+)(?:(?!<\|message\|>)[\s\S]){0,200}<\|message\|>([\s\S]*?)(?=<\|(?:end|return|call|start|channel)\|>|$)/g;
/** A call of a tool in them. */
const HARMONY_CALL =
  /\bto=(?:functions\.)?([\w-]{1,64})(?![\w-])(?:(?!<\|message\|>|\bto=)[\s\S]){0,200}<\|message\|>([\s\S]*?)(?:<\|(?:call|end)\|>|$)/;
/** Stands before the name and arguments of such a call in a text that has no answer. */
export const HARMONY_MARK = '<|channel|>';
const OF_REASONING = /^(redacted_)?(think|thought|reasoning|summary_text)/;
const OF_TEXT = /^(text|output_text)$/;
const LEVELS_MAX = 6;

/** Reads the content, reasoning and refusal of a message. */
export function readContent({
  content,
  refusal,
  reasoning_content,
  reasoning,
  thinking,
  reasoning_details,
}: Fields): Said {
  const said = { texts: [] as string[], reasoning: [] as string[], refusals: [] as string[] };
  const isKnown =
    content === undefined || content === null || typeof content === 'object' || typeof content === 'string';
  const fields = [reasoning_content, reasoning, thinking, reasoning_details].map(textIn);
  said.reasoning.push(fields.find((each) => each !== '') ?? '');
  readPart(content, said);
  const { text, thoughts } = splitThoughts(said.texts.join('').replace(/^\ufeff/, ''));
  said.reasoning.push(thoughts.trim());
  return {
    text: isKnown ? withoutTokens(text) : undefined,
    reasoning: said.reasoning.filter((each) => each !== '').join('\n'),
    refusal: [textIn(refusal), ...said.refusals].filter((each) => each !== '').join('\n'),
  };
}

/** Takes the reasoning out of a text that a server has left it in. */
function splitThoughts(whole: string): { text: string; thoughts: string } {
  if (HARMONY.test(whole)) {
    const channels = [...whole.matchAll(CHANNEL)];
    const join = (isAnswer: boolean) =>
      channels.flatMap(([, name, text]) => ((name === 'final') === isAnswer ? [text] : [])).join('\n');
    const [, name, args] = HARMONY_CALL.exec(whole) ?? [];
    const call = name === undefined ? '' : HARMONY_MARK + name + args;
    return { text: join(true) || call, thoughts: join(false) };
  }
  const thoughts: string[] = [];
  let text = whole;
  for (;;) {
    const found = findFirst(THOUGHTS, text) ?? findFirst(OPEN_THOUGHTS, text);
    if (!found) break;
    thoughts.push(found.groups?.thoughts?.trim() ?? '');
    text = text.slice(found[0].length);
  }
  if (thoughts.length > 0) return { text, thoughts: thoughts.join('\n') };
  const late = LATE_END.exec(whole);
  const isSpokenOf = whole.match(TAGS)?.length !== 1 || JSON_START.test(whole);
  if (!late || isSpokenOf) return { text: whole, thoughts: '' };
  return { text: whole.slice(late.index + late[0].length), thoughts: whole.slice(0, late.index) };
}

function findFirst(marks: RegExp[], text: string): RegExpExecArray | undefined {
  for (const each of marks) {
    const found = each.exec(text);
    if (found) return found;
  }
  return undefined;
}

function withoutTokens(text: string): string {
  let answer = text.replace(TOKENS, '');
  for (;;) {
    const last = LAST_TOKEN.exec(answer.slice(-END_LENGTH));
    if (!last) break;
    answer = answer.slice(0, answer.length - last[0].length);
  }
  // Without its start, it is no tag of HTML.
  return answer.endsWith('</s>') && !answer.includes('<s>') ? answer.slice(0, -'</s>'.length) : answer;
}

/** Reads a content, or a part of one. An object of no known form is the answer itself, which a server has parsed. */
function readPart(
  part: unknown,
  said: { texts: string[]; reasoning: string[]; refusals: string[] },
  levels = 0,
): void {
  if (levels > LEVELS_MAX) return;
  if (typeof part === 'string') said.texts.push(part);
  else if (Array.isArray(part)) for (const each of part) readPart(each, said, levels + 1);
  else if (isObject(part)) {
    const { type, text, refusal, parts } = part as Fields;
    if (typeof type === 'string' && OF_REASONING.test(type)) said.reasoning.push(textIn(part));
    else if (part.thought === true) said.reasoning.push(textIn(text));
    else if (type === 'refusal') said.refusals.push(textIn(refusal));
    else if (Array.isArray(parts)) readPart(parts, said, levels + 1);
    else if (typeof type === 'string' && !OF_TEXT.test(type)) return;
    else if (text !== undefined) said.texts.push(textIn(text));
    else if (type === undefined) said.texts.push(toJson(part));
  }
}

/** Joins the texts in a value whose fields are named in many ways. */
function textIn(value: unknown, levels = 0): string {
  if (typeof value === 'string') return value;
  if (levels > LEVELS_MAX) return '';
  if (Array.isArray(value)) return value.map((each) => textIn(each, levels + 1)).join('');
  if (!isObject(value)) return '';
  const { text, thinking, reasoning, summary, content, value: inner } = value as Fields;
  const found = [text, thinking, reasoning, summary, content, inner].map((each) => textIn(each, levels + 1));
  return found.find((each) => each !== '') ?? '';
}

function toJson(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deeply.
    return '';
  }
}
