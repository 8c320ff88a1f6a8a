import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { $api } from '../api/client.ts';
import { PAGES_BEFORE } from '../api/pages.ts';
import { hasRole, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/role-note.tsx';
import { Button } from '../ui/button.tsx';
import { Panel, Row, Stack } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { ReturnFocus } from '../ui/use-return-focus.ts';
import { AuditEntries } from './audit-entries.tsx';
import { SINCE_OPTIONS, sinceOf } from './audit-since.ts';

/** The audit log of an organization, newest first, with filters. */
export function AuditLogPage() {
  const { org } = useParams({ from: '/orgs/$org/settings/audit-log' });
  const search = useSearch({ from: '/orgs/$org/settings/audit-log' });
  const navigate = useNavigate({ from: '/orgs/$org/settings/audit-log' });
  const organization = useOrganization(org);
  const isAdmin = hasRole(organization, 'admin');
  const [actor, setActor] = useState(search.actor ?? '');
  const [action, setAction] = useState(search.action ?? '');
  // The fields follow the address, which Back and Forward change too.
  useEffect(() => {
    setActor(search.actor ?? '');
    setAction(search.action ?? '');
  }, [search.actor, search.action]);
  const since = sinceOf(search.since);
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/organizations/{org_id}/audit-log',
    {
      params: {
        path: { org_id: organization.id },
        query: {
          limit: 50,
          ...(search.actor && { actor: search.actor }),
          ...(search.action && { action: search.action }),
          ...(since && { since }),
        },
      },
    },
    { ...PAGES_BEFORE, enabled: isAdmin },
  );
  if (!isAdmin) return <RoleNote organization={organization} needed="admin" to="see the audit log" />;
  return (
    <Stack>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({
            search: { ...search, actor: actor.trim() || undefined, action: action.trim() || undefined },
          });
        }}
      >
        <Row>
          <TextField
            label="Actor"
            hideLabel
            placeholder="Actor: user id, operator …"
            value={actor}
            onChange={setActor}
          />
          <TextField
            label="Action"
            hideLabel
            placeholder="Action: api_key.create …"
            value={action}
            onChange={setAction}
          />
          <Select
            label="Time"
            hideLabel
            options={SINCE_OPTIONS}
            value={search.since ?? 'all'}
            onChange={(id) =>
              void navigate({ search: { ...search, since: id === 'all' ? undefined : id }, replace: true })
            }
          />
          <Button type="submit">Filter</Button>
          {(search.actor || search.action) && (
            <>
              <ReturnFocus />
              <Button
                variant="quiet"
                onPress={() => {
                  setActor('');
                  setAction('');
                  void navigate({ search: { since: search.since } });
                }}
              >
                Clear
              </Button>
            </>
          )}
        </Row>
      </form>
      <Panel isFlush>
        <AuditEntries
          organizationId={organization.id}
          query={query}
          onChoose={(action) => void navigate({ search: { ...search, action } })}
        />
      </Panel>
    </Stack>
  );
}
