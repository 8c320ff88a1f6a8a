import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, type Schemas } from '../api/client.ts';
import { hasRole, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/role-note.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { formatBalance } from '../ui/format.ts';
import { Note } from '../ui/note.tsx';
import { Panel, Stack } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Fact, Facts } from '../ui/table.tsx';
import { LedgerPanel } from './ledger-panel.tsx';
import { LowBalanceDialog } from './low-balance-dialog.tsx';

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
