// The filter of the list of deliveries, as it stands in the address; what is not a filter is left out.
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
  /** The id of the run that the deliveries tell of. */
  run?: string | undefined;
};

/** Reads the filter from an address that anyone may have written. */
export function readDeliveryFilter(search: Record<string, unknown>): DeliveryFilter {
  const status = STATUSES.find((known) => known === search.status);
  const event = EVENTS.find((known) => known === search.event);
  const run = typeof search.run === 'string' && UUID.test(search.run) ? search.run : undefined;
  return { ...(status && { status }), ...(event && { event }), ...(run && { run }) };
}
