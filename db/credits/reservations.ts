// Sets aside what model calls may cost before they are made, so that parallel calls never spend the same credits.
import { sql } from 'kysely';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import { CANCELLED } from '../../flow/run.ts';
import { creditsRefused } from '../../platform/observability/metrics/run-metrics.ts';
import type { Db } from '../connect.ts';
import type { BlockId } from '../stored-values/block-id.ts';
import { callNotFound } from '../stored-values/run-not-found.ts';

export type Reservation = BlockId & {
  organizationId: string;
  /** The cost of the block's model calls so far, with the most that the next one may cost. */
  microcredits: number;
  /** The most that the whole run may cost. */
  maxMicrocredits?: number | undefined;
};

type Answer = {
  refusal: 'missing' | 'cancelled' | 'ended' | 'failed' | 'maximum' | 'balance' | 'recorded' | null;
  /** The recorded error of a block that failed and was charged, or answered before. */
  failure: { code: ErrorCode; message: string } | null;
  /** Spent by the whole run so far, and reserved for its other blocks. */
  spent: number;
  reserved: number;
  available: number;
  /** By the database's clock, to the microsecond. */
  reservedAt: string;
};

/** The `reserved_at` of what a statement reserves: the time of its transaction. */
const RESERVED_AT = sql`now()::text as "reservedAt"`;

/**
 * Reserves credits for one block execution, in place of its earlier reservation, and returns the time of that, with which it
 * is released. Throws INSUFFICIENT_CREDITS, MAX_CREDITS_REACHED, CANCELLED for a run that may spend no more, RUN_NOT_FOUND,
 * and the recorded error of a block that failed and was charged: asking its model again would spend more.
 */
export async function reserveCredits(db: Db, wanted: Reservation): Promise<string> {
  const { callId, blockKey, organizationId, microcredits, maxMicrocredits: maximum } = wanted;
  const { rows } = await sql<Answer>`select *, ${RESERVED_AT} from reserve_credits(
    ${callId}, ${blockKey}, ${organizationId}, ${microcredits}, ${maximum ?? null})`.execute(db);
  const [answer] = rows as [Answer];
  throwIfRefused(answer, wanted);
  return answer.reservedAt;
}

type ModelCallBegun = { sent: boolean; secret: string | null; again: boolean | null; reservedAt: string };

/** The block execution was recorded by another attempt meanwhile: its output is in the database. */
export class BlockRecorded extends Error {}

/**
 * Begins a request to a model of `provider` (a prefix): finds whether its call brought a key for it (`sent`), else the stored
 * key of the organization, encrypted; when there is neither, reserves credits as `reserveCredits` does. Throws what that does,
 * the recorded error of a block that failed after an answer, whoever paid for that, and BlockRecorded. `again`: whether the block
 * had a reservation already: one that an earlier attempt or request has left, or that of this request, whose statement is
 * repeated when the connection is lost before the answer.
 */
export async function beginModelCall(
  db: Db,
  wanted: Reservation & { provider: string },
): Promise<ModelCallBegun> {
  const { callId, blockKey, provider, organizationId, microcredits, maxMicrocredits: maximum } = wanted;
  const { rows } = await sql<Answer & ModelCallBegun>`select *, ${RESERVED_AT} from begin_model_call(
    ${callId}, ${blockKey}, ${provider}, ${organizationId}, ${microcredits}, ${maximum ?? null})`.execute(db);
  const [answer] = rows as [(typeof rows)[number]];
  throwIfRefused(answer, wanted);
  return answer;
}

function throwIfRefused(
  { refusal, failure, spent, reserved, available }: Answer,
  { callId, blockKey, microcredits, maxMicrocredits: maximum }: Reservation,
): void {
  switch (refusal) {
    case null:
      return;
    case 'recorded':
      throw new BlockRecorded(`The block ${blockKey} of call ${callId} is recorded.`);
    case 'missing':
      throw callNotFound(callId);
    case 'cancelled':
      throw new ServiceError(CANCELLED.code, CANCELLED.message);
    case 'ended':
      throw new ServiceError('CANCELLED', 'The run has ended.');
    case 'failed':
      throw new ServiceError(failure?.code ?? 'INTERNAL_ERROR', failure?.message ?? 'The block has failed.');
    case 'maximum':
      creditsRefused.add(1, { reason: 'maximum' });
      throw new ServiceError(
        'MAX_CREDITS_REACHED',
        `maxCredits of the run is ${credits(maximum as number)}: ${credits(spent)} are spent, ${credits(reserved)} reserved for other blocks, and this one may cost ${credits(microcredits)}.`,
      );
    case 'balance':
      creditsRefused.add(1, { reason: 'balance' });
      throw balanceTooLow(available, microcredits);
  }
}

/** The error for a model call that may cost more than the organization has; amounts are in microcredits. */
export function balanceTooLow(available: number, cost: number): ServiceError {
  return new ServiceError(
    'INSUFFICIENT_CREDITS',
    `The organization has ${credits(available)} credits that are not reserved for other calls, and this one may cost ${credits(cost)}: the operator of the service grants more, with \`weir operator credits grant <organization> <credits>\`.`,
  );
}

/**
 * Releases the reservation that an attempt at a block execution made at `reservedAt`, unless another attempt has reserved in
 * its place: that one goes on.
 */
export async function releaseReservation(
  db: Db,
  { callId, blockKey }: BlockId,
  reservedAt: string,
): Promise<void> {
  await db
    .deleteFrom('reservation')
    .where('execution_id', '=', callId)
    .where('block_key', '=', blockKey)
    .where('reserved_at', '=', sql<Date>`${reservedAt}::timestamptz`)
    .execute();
}

/**
 * Releases reservations that killed workers left, of calls that have ended or paused. While its call goes on, a reservation
 * is kept however old it is: a model may take hours to answer, and an answer waits for the database as long as that is away.
 * One that somebody is changing at the moment is left to the next time.
 */
export async function releaseLeftReservations(db: Db): Promise<void> {
  await sql`
    delete from reservation where ctid = any (array(
      select reservation.ctid from reservation join run on run.execution_id = reservation.execution_id
      where run.status <> 'started'
      for update of reservation skip locked
    ))`.execute(db);
}

function credits(microcredits: number): number {
  return microcredits / MICROCREDITS_PER_CREDIT;
}
