import { type Kysely, sql } from 'kysely';

/** Model keys that come with a request are no longer stored: a run says for which providers it was sent one. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table run add column model_key_providers text[]`,
  // Such a run ends as one whose key is gone, rather than go on with a key it was not to use.
  `update run set model_key_providers = '{openai,anthropic,google,openrouter,ollama,demo}' where model_keys is not null`,
  `drop trigger run_ending on run`,
  `drop function clear_model_keys`,
  `alter table run drop column model_keys`,
];
