import type { toAssistant } from '../../api/organizations/to-assistant.ts';
import { formatTable, formatTime } from './format-table.ts';

/** Formats one row per connected assistant; returns `empty` when there are none. */
export function assistantTable(assistants: ReturnType<typeof toAssistant>[], empty: string): string {
  return formatTable(
    ['id', 'name', 'client', 'scopes', 'last used'],
    assistants.map(({ id, name, clientId, scopes, lastUsedAt }) => [
      id,
      name ?? '',
      clientId,
      scopes.join(' '),
      formatTime(lastUsedAt),
    ]),
    empty,
  );
}
