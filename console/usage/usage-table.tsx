import { Clipped } from '../ui/clipped.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Table } from '../ui/table.tsx';
import type { Division } from './search.ts';
import { COLUMNS, type Entry, nameEntry } from './usage-columns.ts';

/** The table of the usage. */
export function UsageTable({ entries, by }: { entries: Entry[]; by: Division }) {
  if (entries.length === 0)
    return <EmptyState title="Nothing was used" text="No run has ended in this time. Choose a longer one." />;
  return (
    <Table label={`Usage by ${by}`} head={[HEADS[by], ...COLUMNS.map(({ name }) => name)]}>
      {entries.map((entry) => {
        const name = nameEntry(entry, by);
        return (
          <tr
            key={[entry.day, entry.projectId, entry.flowId, entry.version, entry.model, entry.keyId].join()}
          >
            <td>
              <Clipped text={name} />
            </td>
            {COLUMNS.map((column) => {
              const value = column.value(entry);
              return <td key={column.name}>{typeof value === 'number' ? column.show(value) : '—'}</td>;
            })}
          </tr>
        );
      })}
    </Table>
  );
}

const HEADS: Record<Division, string> = {
  day: 'Day (UTC)',
  project: 'Project',
  flow: 'Flow',
  version: 'Version',
  model: 'Model',
  key: 'API key',
};
