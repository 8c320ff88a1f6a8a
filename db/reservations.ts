// What model calls under way may cost is set aside first: calls made at once never spend the same credits.
import { sql } from 'kysely';
import { type ErrorCode, ServiceError } from '../flow/errors.ts';
import { CANCELLED } from '../flow/run.ts';
import { lockRunState } from './cancel-run.ts';
import type { Db, Tx } from './connect.ts';
import { lockBalance, MICROCREDITS_PER_CREDIT } from './ledger.ts';
import { listRunIds } from './run-parts.ts';

/** One request of a model call takes at most two minutes: an older reservation belongs to none. */
const RESERVATION_MAX_MINUTES = 10;

export type BlockId = { executionId: string; blockKey: string };

export type Reservation = BlockId & {
  organizationId: string;
  /** What the block's model calls have cost so far and the next one may cost at most. */
  microcredits: number;
  /** What the whole run may cost at most. */
  maxMicrocredits?: number | undefined;
};

/**
 * Reserves credits for one block execution, in place of what it had reserved before. Throws INSUFFICIENT_CREDITS,
 * MAX_CREDITS_REACHED, CANCELLED for a run that is to spend no more, and the error of a block that has failed and was
 * charged for it.
 */
export async function reserveCredits(db: Db, wanted: Reservation): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { cancelled, ended } = await lockRunState(tx, wanted.executionId);
    if (cancelled) throw new ServiceError(CANCELLED.code, CANCELLED.message);
    if (ended) throw new ServiceError('CANCELLED', 'The run has ended.');
    const balance = await lockBalance(tx, wanted.organizationId);
    // In statements of their own, which see what those who held the balance before have written.
    await refuseChargedFailure(tx, wanted);
    if (wanted.maxMicrocredits !== undefined) await enforceMaximum(tx, wanted, wanted.maxMicrocredits);
    const left = Math.max(0, balance - (await reservedElsewhere(tx, wanted)));
    if (left < wanted.microcredits)
      throw new ServiceError(
        'INSUFFICIENT_CREDITS',
        `The organization has ${credits(left)} credits that are not reserved for other calls, and this one may cost ${credits(wanted.microcredits)}: an operator can grant more.`,
      );
    await upsertReservation(tx, wanted);
  });
}

/** Model calls of this block execution that are not made, or have been charged, reserve nothing. */
export async function releaseReservation(db: Db | Tx, { executionId, blockKey }: BlockId): Promise<void> {
  await db
    .deleteFrom('reservation')
    .where('execution_id', '=', executionId)
    .where('block_key', '=', blockKey)
    .execute();
}

/** Releases what workers that were killed have left: reservations of runs that have ended, and outdated ones. */
export async function releaseLeftReservations(db: Db): Promise<void> {
  await db
    .deleteFrom('reservation')
    .where((eb) =>
      eb.or([
        eb('reserved_at', '<', sql<Date>`now() - ${RESERVATION_MAX_MINUTES} * interval '1 minute'`),
        eb.exists(
          eb
            .selectFrom('run')
            .select('run.execution_id')
            .whereRef('run.execution_id', '=', 'reservation.execution_id')
            .where('run.finished_at', 'is not', null),
        ),
      ]),
    )
    .execute();
}

/** Its activity was repeated after its answer got lost: asking the model again would spend more. */
async function refuseChargedFailure(tx: Tx, { executionId, blockKey }: BlockId): Promise<void> {
  const failed = await tx
    .selectFrom('block_run')
    .select('error')
    .where('execution_id', '=', executionId)
    .where('block_key', '=', blockKey)
    .where('status', '=', 'failed')
    .where('cost_microcredits', '>', 0)
    .executeTakeFirst();
  if (failed?.error) throw new ServiceError(failed.error.code as ErrorCode, failed.error.message);
}

/** Branches and continuations of a run count together: they wait for each other at the balance. */
async function enforceMaximum(tx: Tx, wanted: Reservation, maximum: number): Promise<void> {
  const { executionId, blockKey, microcredits } = wanted;
  const parts = await listRunIds(tx, executionId);
  const { spent } = await tx
    .selectFrom('block_run')
    .select(sql<number>`coalesce(sum(cost_microcredits), 0)::bigint`.as('spent'))
    .where('execution_id', 'in', parts)
    .executeTakeFirstOrThrow();
  const { reserved } = await tx
    .selectFrom('reservation')
    .select(sql<number>`coalesce(sum(microcredits), 0)::bigint`.as('reserved'))
    .where('execution_id', 'in', parts)
    .where((eb) => eb.or([eb('execution_id', '<>', executionId), eb('block_key', '<>', blockKey)]))
    .executeTakeFirstOrThrow();
  if (spent + reserved + microcredits <= maximum) return;
  throw new ServiceError(
    'MAX_CREDITS_REACHED',
    `maxCredits of the run is ${credits(maximum)}: ${credits(spent)} are spent, ${credits(reserved)} reserved for other blocks, and this one may cost ${credits(microcredits)}.`,
  );
}

async function reservedElsewhere(tx: Tx, { organizationId, executionId, blockKey }: Reservation) {
  const { reserved } = await tx
    .selectFrom('reservation')
    .select(sql<number>`coalesce(sum(microcredits), 0)::bigint`.as('reserved'))
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('execution_id', '<>', executionId), eb('block_key', '<>', blockKey)]))
    .executeTakeFirstOrThrow();
  return reserved;
}

async function upsertReservation(tx: Tx, wanted: Reservation): Promise<void> {
  const { executionId, blockKey, organizationId, microcredits } = wanted;
  await tx
    .insertInto('reservation')
    .values({
      execution_id: executionId,
      block_key: blockKey,
      organization_id: organizationId,
      microcredits,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['execution_id', 'block_key'])
        .doUpdateSet({ microcredits, reserved_at: sql`default` }),
    )
    .execute();
}

function credits(microcredits: number): number {
  return microcredits / MICROCREDITS_PER_CREDIT;
}
