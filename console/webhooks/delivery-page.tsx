import { useParams } from '@tanstack/react-router';
import { $api } from '../api/client.ts';
import { refetch } from '../api/query-client.ts';
import { refetchAfter } from '../api/refetch-after.ts';
import { useOrganization } from '../shell/me.ts';
import { RunLink } from '../shell/run-link.tsx';
import { Button } from '../ui/button.tsx';
import { shortId } from '../ui/format.ts';
import { LinkButton } from '../ui/link-button.tsx';
import { Note } from '../ui/note.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Fact, Facts } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { Attempts } from './attempts.tsx';
import { describeSchedule } from './describe-schedule.ts';
import { RequestBody } from './request-body.tsx';

const DELIVERY = '/api/v1/organizations/{org_id}/webhooks/deliveries/{deliveryId}';
const REFRESH_MS = 2_000;
const UNDER_WAY = new Set(['pending', 'in_flight', 'failed_retry']);

/** One delivery: status, attempts and body. */
export function DeliveryPage() {
  const { org, deliveryId } = useParams({ from: '/orgs/$org/webhooks/$deliveryId' });
  const organization = useOrganization(org);
  const path = { org_id: organization.id, deliveryId };
  const query = $api.useQuery(
    'get',
    DELIVERY,
    { params: { path } },
    {
      refetchInterval: (query) =>
        refetchAfter(query, UNDER_WAY.has(query.state.data?.status ?? '') && REFRESH_MS),
    },
  );
  const redeliver = $api.useMutation('post', `${DELIVERY}/redeliver`, {
    async onSuccess() {
      await refetch(DELIVERY, '/api/v1/organizations/{org_id}/webhooks/deliveries');
      showToast({ tone: 'good', title: 'It is being sent again, in a new round of six attempts.' });
    },
  });
  return (
    <Page
      title={`Delivery ${shortId(deliveryId)}`}
      beside={query.data && <StatusBadge status={query.data.status} />}
      actions={
        <>
          <LinkButton to="/orgs/$org/webhooks" params={{ org }}>
            All deliveries
          </LinkButton>
          <Button
            variant="primary"
            isDisabled={!query.data}
            isPending={redeliver.isPending}
            onPress={() => redeliver.mutate({ params: { path } })}
          >
            Send again
          </Button>
        </>
      }
    >
      <QueryView query={query}>
        {(delivery) => {
          const schedule = describeSchedule(delivery);
          return (
            <>
              <Panel>
                <Facts>
                  <Fact name="Event">{delivery.eventType}</Fact>
                  <Fact name="Receiver">
                    <bdi>{delivery.targetUrl}</bdi>
                  </Fact>
                  <Fact name="Run">
                    {delivery.executionId ? (
                      <RunLink organization={organization} executionId={delivery.executionId} />
                    ) : (
                      'None: a test event'
                    )}
                  </Fact>
                  <Fact name="Attempts">{delivery.attempt} of 6</Fact>
                  <Fact name="Created">
                    <Time at={delivery.createdAt} />
                  </Fact>
                  {delivery.nextAttemptAt && (
                    <Fact name="Next attempt due">
                      <Time at={delivery.nextAttemptAt} />
                    </Fact>
                  )}
                </Facts>
                {delivery.errorMessage && delivery.status !== 'succeeded' && (
                  <Note tone="warn">
                    <bdi>{delivery.errorMessage}</bdi>
                  </Note>
                )}
                {schedule && <p>{schedule}</p>}
              </Panel>
              <Panel title="Attempts">
                <Attempts attempts={delivery.attempts} />
              </Panel>
              <Panel title="Body">
                <RequestBody body={delivery.requestBody} />
              </Panel>
            </>
          );
        }}
      </QueryView>
    </Page>
  );
}
