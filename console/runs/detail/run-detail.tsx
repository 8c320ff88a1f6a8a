import { Link } from '@tanstack/react-router';
import type { Step } from '../../flow/draft/steps.ts';
import { StatusBadge } from '../../ui/badge.tsx';
import { JsonView } from '../../ui/json/json-view.tsx';
import { Stack } from '../../ui/page.tsx';
import type { Run, RunPath } from '../run.ts';
import style from './detail.module.css';
import { RunRequest } from './run-request.tsx';
import { PausedDetail, type TypedResults, UnsentResults } from './tool-results.tsx';

type Props = {
  run: Run;
  path: RunPath;
  organization: string;
  projectId: string;
  steps: Step[] | undefined;
  typed: TypedResults;
};

/** The run as a whole: result, input and webhooks. */
export function RunDetail(props: Props) {
  const { run, path, organization, typed } = props;
  const deliveries = 'deliveries' in run ? run.deliveries : [];
  return (
    <Stack>
      <UnsentResults run={run} path={path} typed={typed} />
      {run.status === 'completed' && (
        <section className={style.value}>
          <h2>Result</h2>
          <JsonView value={run.result} label="Result" />
        </section>
      )}
      {run.status === 'started' && (
        <section className={style.value}>
          <h2>Result</h2>
          <p className={style.faint}>It is still running: the result appears here.</p>
        </section>
      )}
      {(run.status === 'tool_calls_required' || run.status === 'in_progress') && (
        <PausedDetail {...props} run={run} />
      )}
      <RunRequest path={path} />
      {deliveries.length > 0 && (
        <section className={style.value}>
          <h2>Webhooks</h2>
          <ul className={style.deliveries}>
            {deliveries.map(({ id, event, status }) => (
              <li key={id}>
                <Link to="/orgs/$org/webhooks/$deliveryId" params={{ org: organization, deliveryId: id }}>
                  {event}
                </Link>
                <StatusBadge status={status} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </Stack>
  );
}
