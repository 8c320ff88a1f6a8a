// The filter of the list of deliveries in the address. Invalid values are dropped.
const STATUSES = [
  'pending',
  'in_flight',
  'failed_retry',
  'succeeded',
  'failed_permanent',
  'dead_letter',
] as const;
export const EVENTS = ['flow.completed', 'flow.failed'] as const;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export type DeliveryFilter = {
  status?: (typeof STATUSES)[number] | undefined;
  event?: (typeof EVENTS)[number] | undefined;
  /** The id of the deliveries' run. */
  run?: string | undefined;
};

/** Reads the filter from an address, which anyone may have written. */
export function readDeliveryFilter(search: Record<string, unknown>): DeliveryFilter {
  const status = STATUSES.find((known) => known === search.status);
  const event = EVENTS.find((known) => known === search.event);
  const run = typeof search.run === 'string' && UUID.test(search.run) ? search.run : undefined;
  return { ...(status && { status }), ...(event && { event }), ...(run && { run }) };
}
