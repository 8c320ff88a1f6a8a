// The assistants that act for users over MCP: OAuth clients whose tokens were used here.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import type { Db, Tx } from '../connect.ts';
import type { Page } from './organizations.ts';

/** Maximum age of `last_used_at` before a request updates it. */
const USE_RECORDED_MS = 60_000;

/** A use of MCP: the user, the client (`''` when its token does not name it), and the time of the consent. */
type AssistantUse = {
  userId: string;
  clientId: string;
  name: string | undefined;
  scopes: string[];
  consentedAt: Date;
};

/** Whether the user has disconnected the client without a later consent. */
export async function isDisconnected(
  db: Db,
  { userId, clientId, consentedAt }: Pick<AssistantUse, 'userId' | 'clientId' | 'consentedAt'>,
): Promise<boolean> {
  return hasEnded(await findUse(db, userId, clientId), consentedAt);
}

/**
 * Records a use, once a minute and whenever the consent is newer. Returns false, and records nothing, when the user
 * has disconnected the client since that consent.
 */
export async function recordAssistantUse(db: Db, use: AssistantUse): Promise<boolean> {
  const { userId, clientId, name, consentedAt } = use;
  const found = await findUse(db, userId, clientId);
  if (hasEnded(found, consentedAt)) return false;
  if (found?.is_recent && found.consented_at >= consentedAt) return true;
  const values = { scopes: use.scopes, name: name ?? null, consented_at: consentedAt };
  await db
    .insertInto('connected_assistant')
    .values({ user_id: userId, client_id: clientId, ...values })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'client_id']).doUpdateSet({
        ...values,
        consented_at: sql<Date>`greatest(connected_assistant.consented_at, excluded.consented_at)`,
        last_used_at: sql<Date>`now()`,
      }),
    )
    .execute();
  return true;
}

/** Lists a user's connected assistants by client id; `after`: the id of the last one on the previous page. */
export function listAssistants(db: Db, userId: string, { after, limit }: Page) {
  return selectConnected(db)
    .where('user_id', '=', userId)
    .$if(after !== undefined, (query) =>
      query.where('client_id', '>', (rows) =>
        rows
          .selectFrom('connected_assistant as last')
          .select('last.client_id')
          .where('last.id', '=', after as string)
          .where('last.user_id', '=', userId),
      ),
    )
    .orderBy('client_id')
    .limit(limit)
    .execute();
}
export type AssistantRow = Awaited<ReturnType<typeof listAssistants>>[number];

/** Disconnects an assistant: tokens of every earlier consent are rejected. Throws NOT_FOUND. */
export async function disconnect(tx: Tx, userId: string, id: string): Promise<AssistantRow> {
  const row = await selectConnected(tx)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw assistantNotFound();
  // The clock of the identity provider may be ahead of this one.
  await tx
    .updateTable('connected_assistant')
    .set({ disconnected_at: sql<Date>`greatest(now(), consented_at)` })
    .where('id', '=', id)
    .execute();
  return row;
}

export function assistantNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'The user has no such connected assistant.');
}

function selectConnected(db: Db | Tx) {
  return db
    .selectFrom('connected_assistant')
    .select(['id', 'client_id', 'name', 'scopes', 'consented_at', 'first_used_at', 'last_used_at'])
    .where(sql<boolean>`(disconnected_at is null or disconnected_at < consented_at)`);
}

function findUse(db: Db, userId: string, clientId: string) {
  return db
    .selectFrom('connected_assistant')
    .select(['consented_at', 'disconnected_at'])
    .select(
      sql<boolean>`last_used_at > now() - ${USE_RECORDED_MS} * interval '1 millisecond'`.as('is_recent'),
    )
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .executeTakeFirst();
}

function hasEnded(found: { disconnected_at: Date | null } | undefined, consentedAt: Date): boolean {
  const disconnectedAt = found?.disconnected_at;
  return disconnectedAt !== null && disconnectedAt !== undefined && consentedAt <= disconnectedAt;
}
