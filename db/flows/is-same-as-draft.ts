import { sql } from 'kysely';

/**
 * Whether the draft of `flow` is the definition of a version, by the name of its row in the query, which needs both columns.
 * null without the version.
 */
export function isSameAsDraft(version: string) {
  const definition = sql.ref(`${version}.definition`);
  const digest = sql.ref(`${version}.definition_digest`);
  return sql<boolean | null>`case when flow.draft_digest is not null and ${digest} is not null
    then ${digest} = flow.draft_digest else ${definition}::text = flow.draft::text end`;
}
