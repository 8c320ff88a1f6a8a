import { Link } from '@tanstack/react-router';
import { $api } from '../../api/client.ts';
import { formatCredits, shortId } from '../../ui/format.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useFlow } from '../flow-context.ts';
import style from './try-panel.module.css';

const TRIES_SHOWN = 8;

/** Lists the last runs of the flow that users started in a console. */
export function RecentTries({ current }: { current: string | undefined }) {
  const { flow, org, project } = useFlow();
  const { data } = $api.useQuery(
    'get',
    '/api/v1/seq/{org}/{project}/{flow}/runs',
    { params: { path: { org, project, flow: flow.slug }, query: { limit: 50 } } },
    { refetchInterval: 15_000 },
  );
  const tries = (data?.runs ?? [])
    .filter(({ keyId, mode, executionId }) => keyId === null && mode !== 'test' && executionId !== current)
    .slice(0, TRIES_SHOWN);
  if (tries.length === 0) return null;
  return (
    <details className={style.more}>
      <summary>Earlier tries</summary>
      <div className={style.scroll}>
        <Table label="Earlier tries" head={['Run', 'Status', 'Version', 'Credits', 'Started']}>
          {tries.map(({ executionId, status, code, version, cost, startedAt }) => (
            <tr key={executionId}>
              <td>
                <Link
                  to="/orgs/$org/projects/$project/flows/$flow/runs/$executionId"
                  params={{ org, project, flow: flow.slug, executionId }}
                >
                  <code>{shortId(executionId)}</code>
                </Link>
              </td>
              <td>
                <StatusBadge status={status} code={code} />
              </td>
              <td>{version === 0 ? 'Draft' : `v${version}`}</td>
              <td>{formatCredits(cost)}</td>
              <td>
                <Time at={startedAt} />
              </td>
            </tr>
          ))}
        </Table>
      </div>
    </details>
  );
}
