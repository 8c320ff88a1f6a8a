// Which outputs of earlier steps a block can see and which it reads (docs/blocks.md, Outputs of earlier steps).
import type { Block } from './definition.ts';
import { listTemplateSteps } from './template.ts';

/** Steps by their step_id; `all`: every step that has ended before, since the code does not name them one by one. */
export type StepsRead = string[] | 'all';

const ACCESS = String.raw`\s*(?:\?\.\s*)?\[\s*(?:'([\w-]+)'|"([\w-]+)")\s*\]|\s*\??\.\s*([A-Za-z_$][\w$]*)`;
/** The variable `outputs`, not a member of that name, with the name of the step that it is asked for. */
const MENTION = String.raw`(?<![\w$]|(?<!\.\.)\.)outputs(?![\w$])(?:${ACCESS})?`;
const MENTIONS = new RegExp(MENTION, 'g');
const OWN_VARIABLE = /\b(?:const|let|var|function|class)\s+outputs\b/;

/** Lists the steps whose outputs a block may read, perhaps more than it does. */
export function listStepsRead({ processor_type, prompt = '' }: Block): StepsRead {
  if (processor_type === 'llm') return listTemplateSteps(prompt);
  return processor_type === 'code' ? listMentioned(prompt) : [];
}

function listMentioned(source: string): StepsRead {
  const names = [...source.matchAll(MENTIONS)].map(
    ([, single, double, dotted]) => single ?? double ?? dotted,
  );
  // A member that every object has may look at any step: outputs.hasOwnProperty(name).
  const named = names.filter((name): name is string => name !== undefined && !(name in Object.prototype));
  // A variable of its own may be declared in an inner function, a comment or a text: names are read all the same.
  return named.length === names.length || OWN_VARIABLE.test(source) ? [...new Set(named)] : 'all';
}
