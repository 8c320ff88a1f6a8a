// Cursors of deliveries: times whose digits after the milliseconds tell deliveries of the same millisecond apart.
import type { DeliveryPlace } from '../../db/webhooks/deliveries.ts';

/** The digits of a cursor's second after the point: first its milliseconds, then the place within that millisecond. */
const MS_DIGITS = 3;
const SEQ_DIGITS = 15;

/** Makes the cursor of a place. */
export function toCursor({ createdAt, seq }: DeliveryPlace): string {
  return createdAt.toISOString().replace('Z', `${String(seq).padStart(SEQ_DIGITS, '0')}Z`);
}

/** Reads a cursor, or any other time. */
export function parsePlace(text: string): DeliveryPlace {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const beyond = fraction.slice(MS_DIGITS, MS_DIGITS + SEQ_DIGITS).padEnd(SEQ_DIGITS, '0');
  const ms = fraction.slice(0, MS_DIGITS);
  return { createdAt: new Date(text.replace(/\.\d+/, ms && `.${ms}`)), seq: Number(beyond) };
}
