// The steps whose outputs a block reads by their names (docs/blocks.md, Outputs of earlier steps).
import type { Block } from './definition.ts';
import { listTemplateSteps } from './template.ts';

/** Steps by their step_id; `all`: every step that has ended before, since the code does not name them one by one. */
export type StepsRead = string[] | 'all';

const ACCESS = String.raw`\s*(?:\?\.\s*)?\[\s*(?:'([\w-]+)'|"([\w-]+)")\s*\]|\s*\??\.\s*([A-Za-z_$][\w$]*)`;
/** The variable `outputs`, not a member of that name, with the name of the step that it is asked for. */
const MENTION = String.raw`(?<![\w$]|(?<!\.\.)\.)outputs(?![\w$])(?:${ACCESS})?`;
const COMMENT_OR_TEXT = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?`;
const MENTIONS = new RegExp(MENTION, 'g');
const MENTIONS_OUTSIDE_TEXT = new RegExp(`${COMMENT_OR_TEXT}|${MENTION}`, 'g');
const OWN_VARIABLE = /\b(?:const|let|var|function|class)\s+outputs\b/;

/** Lists the steps whose outputs a block may read, perhaps more than it does; [] for code with a variable `outputs` of its own. */
export function listStepsRead({ processor_type, prompt = '' }: Block): StepsRead {
  if (processor_type === 'llm') return listTemplateSteps(prompt);
  return processor_type === 'code' ? listMentioned(prompt, MENTIONS) : [];
}

/** Lists the steps that a block names for sure, for a check of the names; comments and texts in its code do not count. */
export function listStepsNamed({ processor_type, prompt = '' }: Block): string[] {
  if (processor_type === 'llm') return listTemplateSteps(prompt);
  const named = processor_type === 'code' ? listMentioned(prompt, MENTIONS_OUTSIDE_TEXT) : [];
  return named === 'all' ? [] : named;
}

function listMentioned(source: string, pattern: RegExp): StepsRead {
  if (!source.includes('outputs') || OWN_VARIABLE.test(source)) return [];
  const mentions = [...source.matchAll(pattern)].filter(([text]) => text.startsWith('outputs'));
  const names = mentions.map(([, single, double, dotted]) => single ?? double ?? dotted);
  return names.every((name) => name !== undefined) ? [...new Set(names)] : 'all';
}
