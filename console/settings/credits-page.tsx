import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { fieldError } from '../api/api-error.ts';
import { $api, refetch, type Schemas } from '../api/client.ts';
import { PAGES } from '../api/query-options.ts';
import { hasRole, type MyOrganization, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/notes.tsx';
import { RunLink } from '../shell/run-link.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FormDialog, useIsMounted } from '../ui/dialog.tsx';
import { EmptyState, MoreButton, Note, QueryView } from '../ui/feedback.tsx';
import { fromNumber, toNumber } from '../ui/fields/read-text.ts';
import { Select } from '../ui/fields/select.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { formatBalance, formatCredits, formatTokens } from '../ui/format.ts';
import { Fact, Facts, Panel, Stack, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import style from './settings.module.css';

type Props = { organizationId: string; mark: number | null; onClose: () => void };

const LEDGER_KINDS = [
  { id: 'all', label: 'Grants and charges' },
  { id: 'grant', label: 'Grants' },
  { id: 'charge', label: 'Charges' },
] as const;

const REFRESH_MS = 10_000;
/** Keeps the space of the balance until it is loaded. */
const UNKNOWN: Partial<Schemas['Credits']> = {};

/** The credits of an organization: balance and ledger. */
export function CreditsPage() {
  const { org } = useParams({ from: '/orgs/$org/settings/credits' });
  const organization = useOrganization(org);
  const canChange = hasRole(organization, 'admin');
  const [isOpen, setOpen] = useState(false);
  const query = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_id}/credits',
    { params: { path: { org_id: organization.id } } },
    { refetchInterval: REFRESH_MS },
  );
  return (
    <Stack>
      <QueryView query={query.isPending ? { ...query, data: UNKNOWN } : query}>
        {({ balance, reserved, low, lowBalanceMark }) => (
          <Panel
            title="Balance"
            actions={
              <Button size="small" isDisabled={!canChange} onPress={() => setOpen(true)}>
                Low-balance mark …
              </Button>
            }
          >
            <Facts>
              <Fact name="Credits" width="16ch">
                <strong>{balance === undefined ? '…' : formatBalance(balance)}</strong>{' '}
                {low && <Badge tone="warn">Low</Badge>}
              </Fact>
              <Fact name="In US dollars">
                {balance === undefined ? undefined : `$${(balance / 100).toFixed(2)}`}
              </Fact>
              <Fact name="Reserved for calls under way">{formatKnown(reserved)}</Fact>
              <Fact name="Low below" width="9ch">
                {lowBalanceMark === null ? 'Not set' : formatKnown(lowBalanceMark)}
              </Fact>
            </Facts>
            <Note tone={balance !== undefined && balance <= 0 ? 'warn' : 'idle'}>
              Runs need a positive balance to start. The operator of the service grants credits.
            </Note>
            <RoleNote organization={organization} needed="admin" to="set the low-balance mark" />
            {isOpen && lowBalanceMark !== undefined && (
              <LowBalanceDialog
                organizationId={organization.id}
                mark={lowBalanceMark}
                onClose={() => setOpen(false)}
              />
            )}
          </Panel>
        )}
      </QueryView>
      <LedgerPanel organization={organization} />
    </Stack>
  );
}

function formatKnown(credits: number | undefined): string | undefined {
  return credits === undefined ? undefined : formatBalance(credits);
}

/** The grants and charges of an organization, newest first. */
function LedgerPanel({ organization }: { organization: MyOrganization }) {
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
            <Table label="Ledger" head={['When', 'Kind', 'Credits', 'For', 'Tokens']}>
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
                  <td>{entry.tokens ? formatTokens(entry.tokens) : '—'}</td>
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

/** Sets or removes the balance below which the credits count as low. */
function LowBalanceDialog({ organizationId, mark, onClose }: Props) {
  const isMounted = useIsMounted();
  const [text, setText] = useState(fromNumber(mark));
  const wanted = toNumber(text) ?? null;
  const isNumber = wanted === null || Number.isFinite(wanted);
  const save = $api.useMutation('put', '/api/v1/organizations/{org_id}/credits', {
    meta: { quiet: true },
    async onSuccess() {
      await refetch('/api/v1/organizations/{org_id}/credits');
      if (isMounted.current) onClose();
    },
  });
  return (
    <FormDialog
      title="Low-balance mark"
      action="Save"
      isOpen
      onClose={onClose}
      change={save}
      fields={['low_balance_mark']}
      isReady={isNumber}
      onSubmit={() =>
        save.mutate({ params: { path: { org_id: organizationId } }, body: { low_balance_mark: wanted } })
      }
    >
      <TextField
        label="Low below, in credits"
        inputMode="decimal"
        autoFocus
        help="When a charge takes the balance below it, the audit log gets an entry. Empty removes the mark."
        value={text}
        onChange={setText}
        error={isNumber ? fieldError(save.error, 'low_balance_mark') : 'Write a number, such as 100.'}
      />
    </FormDialog>
  );
}
