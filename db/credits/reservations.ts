// Reserves the estimated cost of model calls before they are made, so that parallel calls do not spend the same credits.
import { sql } from 'kysely';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import { CANCELLED } from '../../flow/run.ts';
import { PermitRejected } from '../../platform/limits/fair-queue.ts';
import { creditsRefused } from '../../platform/observability/metrics/run-metrics.ts';
import type { Db } from '../connect.ts';
import { callNotFound } from '../stored-values/run-not-found.ts';
import type { BlockId } from '../stored-values/stored-outputs.ts';

export type Reservation = BlockId & {
  organizationId: string;
  /** The cost of the block's model calls so far, plus the estimated cost of the next. */
  microcredits: number;
  /** The maximum cost of the whole run. */
  maxMicrocredits?: number | undefined;
};

type Answer = {
  refusal:
    | 'missing'
    | 'cancelled'
    | 'ended'
    | 'failed'
    | 'maximum'
    | 'balance'
    | 'reserved'
    | 'recorded'
    | null;
  /** The recorded error of a block that failed after a charge or a model response. */
  failure: { code: ErrorCode; message: string } | null;
  /** Spent by the whole run so far. */
  spent: number;
  available: number;
  /** How long ago the newest reservation of the run's other blocks was made, in milliseconds; null where there is none. */
  otherForMs: number | null;
  /** By the database's clock, to the microsecond. */
  reservedAt: string;
};

/** The `reserved_at` of a statement, which is the time of its transaction, and the age of the newest other one. */
const TIMES = sql`now()::text as "reservedAt",
  extract(epoch from clock_timestamp() - other_at)::float8 * 1000 as "otherForMs"`;

const WAIT_MIN_MS = 1_000;
/** With it, a block may wait for days until its history is full. */
const WAIT_MAX_MS = 30_000;

/**
 * Other blocks of the same run have reserved the credits that a block needs. The block is tried again when they may have
 * ended: the longer they take, the later. To fail it now would end the run, and drop their answers, which are paid for.
 */
export class CreditsReserved extends PermitRejected {
  constructor(otherForMs: number) {
    super('deadline', 'key', Math.min(Math.max(otherForMs / 2, WAIT_MIN_MS), WAIT_MAX_MS));
    this.message = 'The block waits for credits that other blocks of its run have reserved.';
  }
}

/**
 * Reserves credits for one block execution, replacing its earlier reservation. Returns the reservation's time, with
 * which it is released. Throws CreditsReserved while the end of other blocks of the run may leave enough; otherwise
 * INSUFFICIENT_CREDITS, MAX_CREDITS_REACHED, CANCELLED for a run that may spend no more, RUN_NOT_FOUND, and the recorded
 * error of a block that failed and was charged: another model call would spend more.
 */
export async function reserveCredits(db: Db, wanted: Reservation): Promise<string> {
  const { callId, blockKey, organizationId, microcredits, maxMicrocredits: maximum } = wanted;
  const { rows } = await sql<Answer>`select *, ${TIMES} from reserve_credits(
    ${callId}, ${blockKey}, ${organizationId}, ${microcredits}, ${maximum ?? null})`.execute(db);
  const [answer] = rows as [Answer];
  throwIfRefused(answer, wanted);
  return answer.reservedAt;
}

type ModelCallBegun = { sent: boolean; secret: string | null; again: boolean | null; reservedAt: string };

/** Another attempt has recorded the block execution meanwhile: its output is in the database. */
export class BlockRecorded extends Error {}

/**
 * Begins a request to a model of `provider` (a prefix). Finds the key that came with the call (`sent`), else that of the
 * organization, both encrypted; else reserves credits like `reserveCredits`. Throws the errors of `reserveCredits`, the
 * recorded error of a block that failed after a response, and BlockRecorded. `again`: whether the block already had a
 * reservation, from an earlier attempt or from a first execution of this statement before a lost connection.
 */
export async function beginModelCall(
  db: Db,
  wanted: Reservation & { provider: string },
): Promise<ModelCallBegun> {
  const { callId, blockKey, provider, organizationId, microcredits, maxMicrocredits: maximum } = wanted;
  const { rows } = await sql<Answer & ModelCallBegun>`select *, ${TIMES} from begin_model_call(
    ${callId}, ${blockKey}, ${provider}, ${organizationId}, ${microcredits}, ${maximum ?? null})`.execute(db);
  const [answer] = rows as [(typeof rows)[number]];
  throwIfRefused(answer, wanted);
  return answer;
}

function throwIfRefused(
  { refusal, failure, spent, available, otherForMs }: Answer,
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
    case 'reserved':
      throw new CreditsReserved(otherForMs ?? 0);
    case 'maximum':
      creditsRefused.add(1, { reason: 'maximum' });
      throw new ServiceError(
        'MAX_CREDITS_REACHED',
        `maxCredits of the run is ${credits(maximum as number)}: ${credits(spent)} are spent, and this block may cost ${credits(microcredits)}.`,
      );
    case 'balance':
      creditsRefused.add(1, { reason: 'balance' });
      throw balanceTooLow(available, microcredits);
  }
}

/** The error for a model call that may cost more than the balance. Amounts are in microcredits. */
export function balanceTooLow(available: number, cost: number): ServiceError {
  return new ServiceError(
    'INSUFFICIENT_CREDITS',
    `The organization has ${credits(available)} credits that are not reserved for other calls, and this one may cost ${credits(cost)}: the operator of the service grants more, with \`weir operator credits grant <organization> <credits>\`.`,
  );
}

/**
 * Releases the reservation that an attempt at a block execution made at `reservedAt`, unless another attempt has
 * replaced it.
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
 * Releases reservations of killed workers whose calls have ended or paused. While its call is in flight, a
 * reservation is kept however old it is: a model may take hours, and so may an outage of the database. Skips locked
 * rows until the next time.
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
