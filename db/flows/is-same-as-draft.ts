import { sql } from 'kysely';

/** Whether the draft of `flow` is the definition of a version, by the name of its row in the query. null without the version. */
export function isSameAsDraft(version: string) {
  return sql<boolean | null>`${sql.ref(`${version}.definition_digest`)} = flow.draft_digest`;
}
