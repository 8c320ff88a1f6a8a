// What model calls under way may cost is set aside first: calls made at once never spend the same credits.
import { sql } from 'kysely';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import { CANCELLED } from '../../flow/run.ts';
import type { Db } from '../connect.ts';
import { runNotFound } from '../run-not-found.ts';
import { MICROCREDITS_PER_CREDIT } from './ledger.ts';

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

type Answer = {
  refusal: 'missing' | 'cancelled' | 'ended' | 'failed' | 'maximum' | 'balance' | null;
  /** The recorded error of a block that has failed and was charged. */
  failure: { code: ErrorCode; message: string } | null;
  /** By the whole run so far, and for its other blocks. */
  spent: number;
  reserved: number;
  available: number;
};

/**
 * Reserves credits for one block execution, in place of what it had reserved before. Throws INSUFFICIENT_CREDITS,
 * MAX_CREDITS_REACHED, CANCELLED for a run that is to spend no more, RUN_NOT_FOUND, and the error of a block that has
 * failed and was charged for it: asking its model again would spend more.
 */
export async function reserveCredits(db: Db, wanted: Reservation): Promise<void> {
  const { executionId, blockKey, organizationId, microcredits, maxMicrocredits: maximum } = wanted;
  const { rows } = await sql<Answer>`select * from reserve_credits(
    ${executionId}, ${blockKey}, ${organizationId}, ${microcredits}, ${maximum ?? null})`.execute(db);
  const { refusal, failure, spent, reserved, available } = rows[0] as Answer;
  switch (refusal) {
    case null:
      return;
    case 'missing':
      throw runNotFound(executionId);
    case 'cancelled':
      throw new ServiceError(CANCELLED.code, CANCELLED.message);
    case 'ended':
      throw new ServiceError('CANCELLED', 'The run has ended.');
    case 'failed':
      throw new ServiceError(failure?.code ?? 'INTERNAL_ERROR', failure?.message ?? 'The block has failed.');
    case 'maximum':
      throw new ServiceError(
        'MAX_CREDITS_REACHED',
        `maxCredits of the run is ${credits(maximum as number)}: ${credits(spent)} are spent, ${credits(reserved)} reserved for other blocks, and this one may cost ${credits(microcredits)}.`,
      );
    case 'balance':
      throw new ServiceError(
        'INSUFFICIENT_CREDITS',
        `The organization has ${credits(available)} credits that are not reserved for other calls, and this one may cost ${credits(microcredits)}: an operator can grant more.`,
      );
  }
}

/** Model calls of this block execution that are not made, or have been charged, reserve nothing. */
export async function releaseReservation(db: Db, { executionId, blockKey }: BlockId): Promise<void> {
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

function credits(microcredits: number): number {
  return microcredits / MICROCREDITS_PER_CREDIT;
}
