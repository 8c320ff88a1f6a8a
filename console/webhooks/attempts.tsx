import type { Schemas } from '../api/client.ts';
import { Badge } from '../ui/badge.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { formatDuration } from '../ui/format.ts';
import { Time } from '../ui/time.tsx';
import style from './webhooks.module.css';

type Attempt = Schemas['WebhookAttempt'];

/** The attempts of a delivery, newest first. Each opens to show request and response. */
export function Attempts({ attempts }: { attempts: Attempt[] }) {
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
