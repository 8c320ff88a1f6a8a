import { useNavigate, useSearch } from '@tanstack/react-router';
import { $api } from '../api/client.ts';
import { PAGES } from '../api/pages.ts';
import type { MyOrganization } from '../shell/me.ts';
import { RunLink } from '../shell/run-link.tsx';
import { Badge } from '../ui/badge.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { formatCredits } from '../ui/format.ts';
import { MoreButton } from '../ui/more-button.tsx';
import { Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Select } from '../ui/select.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import style from './settings.module.css';

const LEDGER_KINDS = [
  { id: 'all', label: 'Grants and charges' },
  { id: 'grant', label: 'Grants' },
  { id: 'charge', label: 'Charges' },
] as const;

/** The grants and charges of an organization, newest first. */
export function LedgerPanel({ organization }: { organization: MyOrganization }) {
  const { kind } = useSearch({ from: '/orgs/$org/settings/credits' });
  const navigate = useNavigate({ from: '/orgs/$org/settings/credits' });
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/organizations/{org_id}/credits/ledger',
    { params: { path: { org_id: organization.id }, query: { limit: 50, ...(kind && { kind }) } } },
    PAGES,
  );
  return (
    <Panel
      title="Ledger"
      isFlush
      actions={
        <Select
          label="Kind"
          hideLabel
          options={LEDGER_KINDS}
          value={kind ?? 'all'}
          onChange={(id) => void navigate({ search: id === 'all' ? {} : { kind: id }, replace: true })}
        />
      }
    >
      <QueryView query={query}>
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.entries);
          if (entries.length === 0)
            return (
              <EmptyState
                title="No entries"
                text="Grants appear here, and what the blocks of runs have cost."
              />
            );
          return (
            <Table label="Ledger" head={['When', 'Kind', 'Credits', 'For']}>
              {entries.map((entry) => (
                <tr key={entry.id}>
                  <td>
                    <Time at={entry.at} />
                  </td>
                  <td>
                    <Badge tone={entry.kind === 'grant' ? 'good' : 'idle'}>
                      {entry.kind === 'grant' ? 'Grant' : 'Charge'}
                    </Badge>
                  </td>
                  <td>{formatCredits(entry.credits)}</td>
                  <td className={style.nowrap}>
                    {entry.executionId ? (
                      <>
                        Block <code>{entry.block}</code> of{' '}
                        <RunLink organization={organization} executionId={entry.executionId} />
                      </>
                    ) : (
                      <code>{entry.key ?? ''}</code>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          );
        }}
      </QueryView>
      <MoreButton query={query} />
    </Panel>
  );
}
