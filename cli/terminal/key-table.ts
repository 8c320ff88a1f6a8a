// Tables and lines that the commands over HTTP and those of the operator share.
import type { toApiKey } from '../../api/organizations/to-api-key.ts';
import { formatTable, formatTime } from './format-table.ts';

type Key = ReturnType<typeof toApiKey>;

const CELLS = {
  'created by': (key: Key) => key.createdBy ?? 'operator',
  'last used': (key: Key) => formatTime(key.lastUsedAt),
};

/** Formats one row per API key, with one column of the caller's choice; returns `empty` when there are no keys. */
export function keyTable(keys: Key[], column: keyof typeof CELLS, empty: string): string {
  return formatTable(
    ['key', 'name', 'scopes', 'state', 'created', column, 'expires'],
    keys.map((key) => [
      `weir_${key.environment}_${key.keyId}`,
      key.name,
      key.scopes.join(' '),
      key.state,
      formatTime(key.createdAt),
      CELLS[column](key),
      formatTime(key.expiresAt),
    ]),
    empty,
  );
}
