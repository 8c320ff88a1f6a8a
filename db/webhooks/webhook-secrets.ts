// Signing secrets, one per organization.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Encryption } from '../../platform/secrets/encrypt.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import { type Author, recordChange } from '../tenants/audit-entries.ts';

export const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** How long deliveries also carry a signature by the previous secret. */
const GRACE_HOURS = 24;

/** A signing secret in plaintext; `previous` and `graceUntil` are null without a grace period. */
type SigningSecret = {
  version: number;
  current: string;
  previous: string | null;
  createdAt: Date;
  rotatedAt: Date | null;
  graceUntil: Date | null;
};

export function mintSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export async function findSigningSecret(
  db: Db | Tx,
  encryption: Encryption,
  organizationId: string,
): Promise<SigningSecret | undefined> {
  const row = await selectSecret(db, organizationId).executeTakeFirst();
  return row && open(encryption, organizationId, row);
}

/** Reads the organization's secret. Creates the first one, and records that as a change by `author`. */
export async function ensureSigningSecret(
  db: Db | Tx,
  encryption: Encryption,
  organizationId: string,
  author: Author,
): Promise<SigningSecret> {
  const found = await findSigningSecret(db, encryption, organizationId);
  return (
    found ??
    inTransaction(db, async (tx) => {
      // Waits for another transaction that is creating it.
      if (await insertFirst(tx, encryption, organizationId, mintSigningSecret(), null))
        await recordChange(tx, author, {
          organizationId,
          action: 'webhook_secret.create',
          resourceId: organizationId,
        });
      return readSecret(tx, encryption, organizationId);
    })
  );
}

/**
 * Makes `secret` the current one. With `grace`, the previous one stays valid for a time; without, it ends at once.
 * Repeated with the same secret, it changes nothing. The first secret of an organization has no previous one, and so
 * no grace period. `replaced`: the previous one; null when there was none or nothing changed.
 */
export function rotateSigningSecret(
  db: Db | Tx,
  encryption: Encryption,
  organizationId: string,
  secret: string,
  { grace }: { grace: boolean },
): Promise<{ secret: SigningSecret; replaced: string | null; changed: boolean }> {
  return inTransaction(db, async (tx) => {
    if (await insertFirst(tx, encryption, organizationId, secret, sql<Date>`now()`))
      return { secret: await readSecret(tx, encryption, organizationId), replaced: null, changed: true };
    const row = await selectSecret(tx, organizationId).forUpdate().executeTakeFirstOrThrow();
    const { version, current } = open(encryption, organizationId, row);
    const changed = current !== secret;
    if (changed)
      await tx
        .updateTable('webhook_secret')
        .set({
          version: version + 1,
          current_secret: encryption.encrypt(secret, ownerOf(organizationId, version + 1)),
          previous_secret: grace ? row.current_secret : null,
          created_at: sql`now()`,
          rotated_at: sql`now()`,
          grace_until: grace ? sql`now() + ${GRACE_HOURS} * interval '1 hour'` : null,
        })
        .where('organization_id', '=', organizationId)
        .execute();
    const replaced = changed ? current : null;
    return { secret: await readSecret(tx, encryption, organizationId), replaced, changed };
  });
}

/**
 * Encrypts every organization's secret under the newest key, and returns the number. Drops previous ones out of
 * grace.
 */
export async function reencryptSigningSecrets(tx: Tx, encryption: Encryption): Promise<number> {
  const ids = await tx.selectFrom('webhook_secret').select('organization_id').forUpdate().execute();
  for (const { organization_id } of ids) {
    const { version, current, previous } = await readSecret(tx, encryption, organization_id);
    await tx
      .updateTable('webhook_secret')
      .set({
        current_secret: encryption.encrypt(current, ownerOf(organization_id, version)),
        previous_secret: previous && encryption.encrypt(previous, ownerOf(organization_id, version - 1)),
      })
      .where('organization_id', '=', organization_id)
      .execute();
  }
  return ids.length;
}

/** Decrypts one secret under each of the service's own keys. Throws an Error that names the missing or wrong one. */
export async function requireSigningSecretsReadable(db: Db, encryption: Encryption): Promise<void> {
  const ids = await db
    .selectFrom('webhook_secret')
    .select('organization_id')
    .distinctOn([sql`split_part(current_secret, ':', 1)`, sql`split_part(previous_secret, ':', 1)`])
    .execute();
  for (const { organization_id } of ids) await findSigningSecret(db, encryption, organization_id);
}

async function readSecret(tx: Tx, encryption: Encryption, organizationId: string): Promise<SigningSecret> {
  const row = await selectSecret(tx, organizationId).executeTakeFirstOrThrow();
  return open(encryption, organizationId, row);
}

async function insertFirst(
  db: Db | Tx,
  encryption: Encryption,
  organizationId: string,
  secret: string,
  rotatedAt: ReturnType<typeof sql<Date>> | null,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('webhook_secret')
    .values({
      organization_id: organizationId,
      version: 1,
      current_secret: encryption.encrypt(secret, ownerOf(organizationId, 1)),
      rotated_at: rotatedAt,
    })
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

function selectSecret(db: Db | Tx, organizationId: string) {
  return db
    .selectFrom('webhook_secret')
    .select(['version', 'current_secret', 'previous_secret', 'created_at', 'rotated_at', 'grace_until'])
    .select(sql<boolean>`coalesce(grace_until > now(), false)`.as('in_grace'))
    .where('organization_id', '=', organizationId);
}
type SecretRow = Awaited<ReturnType<ReturnType<typeof selectSecret>['executeTakeFirstOrThrow']>>;

function open(encryption: Encryption, organizationId: string, row: SecretRow): SigningSecret {
  const { version, current_secret, previous_secret, in_grace } = row;
  return {
    version,
    current: encryption.decrypt(current_secret, ownerOf(organizationId, version)),
    previous:
      in_grace && previous_secret
        ? encryption.decrypt(previous_secret, ownerOf(organizationId, version - 1))
        : null,
    createdAt: row.created_at,
    rotatedAt: row.rotated_at,
    graceUntil: in_grace ? row.grace_until : null,
  };
}

function ownerOf(organizationId: string, version: number): string {
  return `webhook_secret/${organizationId}/${version}`;
}
