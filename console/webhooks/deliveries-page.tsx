import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { $api } from '../api/client.ts';
import { PAGES_BEFORE, refreshPages } from '../api/query-options.ts';
import { useOrganization } from '../shell/me.ts';
import { ListenNote } from '../shell/notes.tsx';
import { StatusBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { EmptyState, MoreButton, QueryView } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { shortId } from '../ui/format.ts';
import { Clipped, Panel, Row, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { ReturnFocus } from '../ui/use-return-focus.ts';
import type { DeliveryFilter } from './search.ts';
import style from './webhooks.module.css';

const STATUS_OPTIONS = [
  { id: 'all', label: 'Any status' },
  { id: 'pending', label: 'Pending' },
  { id: 'in_flight', label: 'On its way' },
  { id: 'failed_retry', label: 'Will be retried' },
  { id: 'succeeded', label: 'Delivered' },
  { id: 'failed_permanent', label: 'Refused', description: 'The receiver answered 3xx or 4xx: not retried.' },
  { id: 'dead_letter', label: 'Dead letter', description: 'Six attempts failed.' },
] as const;
const EVENT_OPTIONS = [
  { id: 'all', label: 'Any event' },
  { id: 'flow.completed', label: 'flow.completed' },
  { id: 'flow.failed', label: 'flow.failed' },
] as const;

/** The deliveries of an organization, newest first. */
export function DeliveriesPage() {
  const { org } = useParams({ from: '/orgs/$org/webhooks/' });
  const { status, event, run } = useSearch({ from: '/orgs/$org/webhooks/' });
  const navigate = useNavigate({ from: '/orgs/$org/webhooks/' });
  const organization = useOrganization(org);
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/organizations/{org_id}/webhooks/deliveries',
    {
      params: {
        path: { org_id: organization.id },
        query: {
          limit: 50,
          ...(status && { status }),
          ...(event && { event }),
          ...(run && { execution_id: run }),
        },
      },
    },
    { ...PAGES_BEFORE, refetchInterval: refreshPages },
  );
  const isFiltered = status !== undefined || event !== undefined || run !== undefined;
  function filter(changed: DeliveryFilter) {
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true });
  }
  return (
    <>
      <Row>
        <Select
          label="Status"
          hideLabel
          options={STATUS_OPTIONS}
          value={status ?? 'all'}
          onChange={(id) => filter({ status: id === 'all' ? undefined : id })}
        />
        <Select
          label="Event"
          hideLabel
          options={EVENT_OPTIONS}
          value={event ?? 'all'}
          onChange={(id) => filter({ event: id === 'all' ? undefined : id })}
        />
        {run && <span>of run {shortId(run)}</span>}
        {isFiltered && (
          <>
            <ReturnFocus />
            <Button variant="quiet" onPress={() => void navigate({ search: {} })}>
              Clear
            </Button>
          </>
        )}
      </Row>
      <Panel isFlush>
        <QueryView query={query}>
          {({ pages }) => {
            const deliveries = pages.flatMap((page) => page.deliveries);
            if (deliveries.length === 0)
              return isFiltered ? (
                <EmptyState title="No such delivery" text="No delivery matches the filters." />
              ) : (
                <EmptyState
                  title="No delivery yet"
                  text="Submit a run with POST …/jobs and a callbackUrl, or send a test event to your receiver."
                >
                  <ListenNote />
                </EmptyState>
              );
            return (
              <Table
                label="Deliveries"
                head={['Status', 'Event', 'Receiver', 'Attempts', 'Answer', 'Created', 'Last attempt']}
              >
                {deliveries.map((delivery) => (
                  <tr key={delivery.id}>
                    <td>
                      <Link to="/orgs/$org/webhooks/$deliveryId" params={{ org, deliveryId: delivery.id }}>
                        <StatusBadge status={delivery.status} />
                        <span className="visually-hidden"> delivery {shortId(delivery.id)}</span>
                      </Link>
                    </td>
                    <td className={style.nowrap}>{delivery.eventType}</td>
                    <td className={style.receiver}>
                      <Clipped text={delivery.targetUrl} />
                    </td>
                    <td>{delivery.attempt} of 6</td>
                    <td>{delivery.responseStatus ?? <Clipped text={delivery.errorMessage ?? '—'} />}</td>
                    <td className={style.nowrap}>
                      <Time at={delivery.createdAt} />
                    </td>
                    <td className={style.nowrap}>
                      <Time at={delivery.lastAttemptedAt} />
                    </td>
                  </tr>
                ))}
              </Table>
            );
          }}
        </QueryView>
        <MoreButton query={query} />
      </Panel>
    </>
  );
}
