import { useParams } from '@tanstack/react-router';
import { $api, refetch, type Schemas } from '../api/client.ts';
import { refetchAfter } from '../api/query-options.ts';
import { useOrganization } from '../shell/me.ts';
import { RunLink } from '../shell/run-link.tsx';
import { Badge, StatusBadge } from '../ui/badge.tsx';
import { Button, LinkButton } from '../ui/button.tsx';
import { CodeBlock, CopyButton } from '../ui/code-block.tsx';
import { Note, QueryView } from '../ui/feedback.tsx';
import { formatBytes, formatDuration, shortId } from '../ui/format.ts';
import { Fact, Facts, Page, Panel } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { describeSchedule } from './describe-schedule.ts';
import style from './webhooks.module.css';

const SHOWN_MAX_CHARS = 20_000;

type Attempt = Schemas['WebhookAttempt'];

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

/** The attempts of a delivery, newest first. Each opens to show request and response. */
function Attempts({ attempts }: { attempts: Attempt[] }) {
  if (attempts.length === 0) return <p>None yet: the delivery is queued.</p>;
  const rounds = Math.max(...attempts.map(({ round }) => round));
  const newestFirst = attempts.toSorted((a, b) => b.round - a.round || b.attempt - a.attempt);
  return newestFirst.map((attempt, index) => (
    <details key={`${attempt.round}-${attempt.attempt}`} className={style.attempt} open={index === 0}>
      <summary>
        <strong>Attempt {attempt.attempt}</strong>
        {rounds > 1 && <span className={style.round}>round {attempt.round}</span>}
        <Outcome attempt={attempt} />
        {attempt.durationMs !== null && <span>{formatDuration(attempt.durationMs)}</span>}
        <span>
          <Time at={attempt.startedAt} />
        </span>
      </summary>
      <div className={style.parts}>
        <div>
          <h3>Request headers</h3>
          {attempt.requestHeaders ? (
            <CodeBlock
              label="the request headers"
              isWrapped
              text={Object.entries(attempt.requestHeaders)
                .map(([name, value]) => `${name}: ${value}`)
                .join('\n')}
            />
          ) : (
            <p>Nothing was sent.</p>
          )}
        </div>
        <div>
          <h3>Answer</h3>
          {attempt.errorMessage && (
            <p>
              <bdi>{attempt.errorMessage}</bdi>
            </p>
          )}
          {attempt.responseBody ? (
            <CodeBlock label="the answer" isWrapped text={attempt.responseBody} />
          ) : (
            <p>{attempt.responseStatus === null ? 'There was none.' : 'Its body was empty.'}</p>
          )}
        </div>
      </div>
    </details>
  ));
}

function Outcome({ attempt: { responseStatus, durationMs } }: { attempt: Attempt }) {
  if (responseStatus === null)
    return durationMs === null ? <Badge tone="busy">On its way</Badge> : <Badge tone="bad">No answer</Badge>;
  return (
    <Badge tone={responseStatus >= 200 && responseStatus < 300 ? 'good' : 'bad'}>{responseStatus}</Badge>
  );
}

/** The body of a delivery, byte for byte as it is sent and signed. */
function RequestBody({ body }: { body: string | null }) {
  if (body === null) return <p>No body yet: the body is created when the delivery is first sent.</p>;
  if (body.length <= SHOWN_MAX_CHARS) return <CodeBlock label="the body" text={body} isWrapped />;
  return (
    <>
      <p>
        The first {formatBytes(SHOWN_MAX_CHARS)} of {formatBytes(new Blob([body]).size)}. Copy all of it:{' '}
        <CopyButton text={body} label="Copy the whole body" />
      </p>
      <CodeBlock label="the beginning of the body" text={body.slice(0, SHOWN_MAX_CHARS)} isWrapped />
    </>
  );
}
