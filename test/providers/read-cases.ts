// Reads cases.yaml, which says how to read a case.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Block } from '../../flow/definition.ts';

// biome-ignore lint/suspicious/noExplicitAny: data of every shape, hostile ones too
type Data = any;

/** One answer or refusal of a provider. */
export type Exchange = {
  answer?: Data;
  finish?: string;
  usage?: Data;
  status?: number;
  headers?: Record<string, string>;
  body?: Data;
  refuses_if?: string;
  refuses_unless?: string;
  note?: string;
};

/** A case, or one entry of a case with a list named `*_each`, whose id then ends with its number. */
export type Case = {
  id: string;
  kind: string;
  note?: string;
  block?: Partial<Block> & { model?: string; tools?: string[] };
  message?: string;
  attachments?: Data[];
  provider?: Exchange[];
  resume?: string;
  outputSchema?: Data;
  request?: Data;
  right: Data;
};

/** Lists the cases in the order of the file. */
export function readCases(): Case[] {
  const written: Data[] = parse(readFileSync(new URL('cases.yaml', import.meta.url), 'utf8'));
  const byId = new Map(written.map((one) => [one.id, one]));
  return written
    .map((one) => (one.same_as ? vary({ ...byId.get(one.same_as), ...one }) : one))
    .flatMap(expandEach);
}

/** Applies the note of a case that repeats another one. Throws for a note that it does not know. */
function vary({ same_as: _, ...one }: Data): Data {
  const field = /^the field is `(\w+)`/.exec(one.note)?.[1];
  if (field) return JSON.parse(JSON.stringify(one).replaceAll('reasoning_content', field));
  if (one.note !== 'content is null') throw new Error(`${one.id} has an unknown note: ${one.note}`);
  const [first, ...rest] = one.provider;
  return { ...one, provider: [{ ...first, answer: { ...first.answer, content: null } }, ...rest] };
}

function expandEach(one: Data): Case[] {
  const list = Object.keys(one).find((name) => name.endsWith('_each'));
  if (!list) return [one];
  const { [list]: members, ...rest } = one;
  const name = list.slice(0, -'_each'.length);
  return members.map((member: Data, index: number) => ({
    ...rest,
    id: `${one.id}.${index + 1}`,
    [name]:
      name === 'provider' ? [typeof member === 'string' ? { answer: { content: member } } : member] : member,
  }));
}
