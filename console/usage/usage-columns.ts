import type { components } from '../api/schema.d.ts';
import { formatCompact, formatCount, formatCredits, formatDuration } from '../ui/format.ts';
import type { Division } from './search.ts';

type Cell = string | number | null | undefined;

export type Entry = components['schemas']['UsageReport']['entries'][number];

type Column = {
  name: string;
  /** The exact value, for the CSV file. */
  value: (entry: Entry) => number | null | undefined;
  show: (value: number) => string;
};

/** The columns of numbers, in order. */
export const COLUMNS: readonly Column[] = [
  { name: 'Credits', value: ({ credits }) => credits, show: formatCredits },
  { name: 'Runs', value: ({ runs }) => runs, show: formatCount },
  { name: 'Failed', value: ({ failedRuns }) => failedRuns, show: formatCount },
  { name: 'Cancelled', value: ({ cancelledRuns }) => cancelledRuns, show: formatCount },
  { name: 'Refused', value: ({ refusedRuns }) => refusedRuns, show: formatCount },
  { name: 'Run p50', value: ({ runLatencyMs }) => runLatencyMs?.p50, show: formatDuration },
  { name: 'Run p95', value: ({ runLatencyMs }) => runLatencyMs?.p95, show: formatDuration },
  { name: 'Model calls', value: ({ modelCalls }) => modelCalls, show: formatCount },
  { name: 'Failed calls', value: ({ failedModelCalls }) => failedModelCalls, show: formatCount },
  { name: 'Call p95', value: ({ modelLatencyMs }) => modelLatencyMs?.p95, show: formatDuration },
  { name: 'Tokens in', value: ({ promptTokens }) => promptTokens, show: formatCompact },
  { name: 'Cached tokens', value: ({ cachedTokens }) => cachedTokens, show: formatCompact },
  {
    name: 'Tokens written to a cache',
    value: ({ cacheWriteTokens }) => cacheWriteTokens,
    show: formatCompact,
  },
  { name: 'Tokens out', value: ({ completionTokens }) => completionTokens, show: formatCompact },
  { name: 'Reasoning tokens', value: ({ reasoningTokens }) => reasoningTokens, show: formatCompact },
  { name: 'Refused (429)', value: ({ refused }) => refused, show: formatCount },
];

/** Names the subject of an entry. */
export function nameEntry(entry: Entry, by: Division): string {
  switch (by) {
    case 'day':
      return entry.day ?? '';
    case 'version':
      return `${pathOf(entry) ?? 'deleted flow'} ${entry.version === 0 ? 'draft' : `v${entry.version}`}`;
    case 'model':
      return entry.model ?? 'Code';
    case 'key':
      if (entry.keyId === null) return 'Users and test runs';
      return pathOf(entry) ?? entry.keyId ?? '';
    default:
      return pathOf(entry) ?? entry.projectId ?? entry.flowId ?? 'Deleted';
  }
}

/** Prefixes a flow or key with its project, because names are only unique there. */
function pathOf({ name, project }: Entry): string | undefined {
  return name ? [project, name].filter(Boolean).join('/') : undefined;
}

/** Writes a table as CSV (RFC 4180). Text that a spreadsheet would read as a formula gets a leading apostrophe. */
export function toCsv(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(quote).join(',')}\r\n`).join('');
}

function quote(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
