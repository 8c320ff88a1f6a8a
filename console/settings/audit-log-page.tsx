import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Fragment, useEffect, useState } from 'react';
import { $api, type Schemas } from '../api/client.ts';
import { PAGES_BEFORE } from '../api/query-options.ts';
import { hasRole, useOrganization } from '../shell/me.ts';
import { RoleNote } from '../shell/notes.tsx';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { EmptyState, MoreButton, QueryView } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { Clipped, Panel, Row, Stack, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { ReturnFocus } from '../ui/use-return-focus.ts';
import { ANY, actionName, actionOptions } from './audit-actions.ts';
import { AuditTarget } from './audit-target.tsx';
import { SINCE_OPTIONS, sinceOf } from './search.ts';
import style from './settings.module.css';

type Props = {
  /** The slug of the organization. */
  org: string;
  query: UseInfiniteQueryResult<InfiniteData<Schemas['AuditLog']>, Error>;
  isFiltered: boolean;
  /** Called with an action to filter by. */
  onChoose: (action: string) => void;
};

/** The audit log of an organization, newest first, with filters. */
export function AuditLogPage() {
  const { org } = useParams({ from: '/orgs/$org/settings/audit-log' });
  const search = useSearch({ from: '/orgs/$org/settings/audit-log' });
  const navigate = useNavigate({ from: '/orgs/$org/settings/audit-log' });
  const organization = useOrganization(org);
  const isAdmin = hasRole(organization, 'admin');
  const [actor, setActor] = useState(search.actor ?? '');
  // The field follows the address, which Back and Forward change too.
  useEffect(() => setActor(search.actor ?? ''), [search.actor]);
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
          void navigate({ search: { ...search, actor: actor.trim() || undefined } });
        }}
      >
        <Row>
          <TextField
            label="Actor"
            hideLabel
            placeholder="User id or operator/…"
            value={actor}
            onChange={setActor}
          />
          <Select
            label="Action"
            hideLabel
            options={actionOptions(search.action)}
            value={search.action ?? ANY}
            onChange={(id) =>
              void navigate({ search: { ...search, action: id === ANY ? undefined : id }, replace: true })
            }
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
          org={org}
          query={query}
          isFiltered={Boolean(search.actor || search.action || search.since)}
          onChoose={(action) => void navigate({ search: { ...search, action } })}
        />
      </Panel>
    </Stack>
  );
}

/** The entries of an audit log. Each opens to show its details and request id. */
function AuditEntries({ org, query, isFiltered, onChoose }: Props) {
  const [opened, setOpened] = useState<string>();
  return (
    <>
      <QueryView query={query}>
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.entries);
          if (entries.length === 0)
            return (
              <EmptyState
                title="No entries"
                text={
                  isFiltered
                    ? 'No change matches the filters.'
                    : 'Changes of members, keys, flows and settings appear here.'
                }
              />
            );
          return (
            <Table label="Audit log" head={['When', 'Who', 'Did', 'To', '']}>
              {entries.map((entry) => {
                const isOpen = entry.id === opened;
                return (
                  <Fragment key={entry.id}>
                    <tr id={entry.id}>
                      <td>
                        <Time at={entry.at} />
                      </td>
                      <td title={entry.actor}>
                        <Clipped text={entry.actorName ?? entry.actorEmail ?? entry.actor} />
                      </td>
                      <td>
                        <Button
                          size="small"
                          variant="quiet"
                          aria-label={`Only ${actionName(entry.action)}`}
                          onPress={() => onChoose(entry.action)}
                        >
                          {actionName(entry.action)}
                        </Button>
                      </td>
                      <td>
                        <AuditTarget org={org} entry={entry} />
                      </td>
                      <td align="right">
                        <Button
                          size="small"
                          aria-expanded={isOpen}
                          onPress={() => setOpened(isOpen ? undefined : entry.id)}
                        >
                          Details
                        </Button>
                      </td>
                    </tr>
                    {isOpen && (
                      <tr>
                        <td colSpan={5}>
                          <div className={style.entry}>
                            <CodeBlock
                              label="the entry"
                              text={JSON.stringify(
                                {
                                  id: entry.id,
                                  at: entry.at,
                                  actor: entry.actor,
                                  action: entry.action,
                                  resourceId: entry.resourceId,
                                  requestId: entry.requestId,
                                  details: entry.details,
                                },
                                null,
                                2,
                              )}
                              isWrapped
                            />
                          </div>
                        </td>
                      </tr>
                    )}
                  </Fragment>
                );
              })}
            </Table>
          );
        }}
      </QueryView>
      <MoreButton query={query} />
    </>
  );
}
