import { formatTable, formatTime } from './format-table.ts';

type Entry = { at: string | Date; actor: string; action: string; resourceId: string; details: object };

/** Formats one row per entry of the audit log. */
export function auditTable(entries: Entry[]): string {
  return formatTable(
    ['at', 'actor', 'action', 'resource', 'details'],
    entries.map((entry) => [
      formatTime(entry.at),
      entry.actor,
      entry.action,
      entry.resourceId,
      JSON.stringify(entry.details),
    ]),
    'There are no entries.',
  );
}
