import type { DeliveryPlace } from '../../db/webhooks/deliveries.ts';

/** The fraction of a cursor's seconds: first the milliseconds, then the sequence number within that millisecond. */
const MS_DIGITS = 3;
const SEQ_DIGITS = 15;

/**
 * Makes the cursor of a delivery: a time, whose digits after the milliseconds order deliveries of the same
 * millisecond.
 */
export function toCursor({ createdAt, seq }: DeliveryPlace): string {
  return createdAt.toISOString().replace('Z', `${String(seq).padStart(SEQ_DIGITS, '0')}Z`);
}

/** Parses a cursor or any other time. */
export function parsePlace(text: string): DeliveryPlace {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const beyond = fraction.slice(MS_DIGITS, MS_DIGITS + SEQ_DIGITS).padEnd(SEQ_DIGITS, '0');
  const ms = fraction.slice(0, MS_DIGITS);
  return { createdAt: new Date(text.replace(/\.\d+/, ms && `.${ms}`)), seq: Number(beyond) };
}
