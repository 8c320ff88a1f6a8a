import { Link, useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { api, type Schemas } from '../api/client.ts';
import { queryClient, refetch } from '../api/query-client.ts';
import { hasRole, useProject } from '../shell/me.ts';
import { Badge } from '../ui/badge.tsx';
import { Clipped } from '../ui/clipped.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import style from './project-page.module.css';

type Flow = Schemas['Flow'];

const FLOW = '/orgs/$org/projects/$project/flows/$flow';

/** The table of flows: version in production, state of the draft, last run. */
export function FlowsTable({ flows, slugs }: { flows: Flow[]; slugs: { org: string; project: string } }) {
  const { organization } = useProject(slugs);
  const navigate = useNavigate();
  const [toDelete, setToDelete] = useState<Flow>();
  return (
    <>
      <Table label="Flows" head={['Flow', 'Production', 'Draft', 'Last run', '']}>
        {flows.map((flow) => {
          const params = { ...slugs, flow: flow.slug };
          return (
            <tr key={flow.id}>
              <td>
                <Link to={FLOW} params={params} className={style.name}>
                  <Clipped text={flow.name} />
                </Link>
                <code className={style.slug}>
                  <Clipped text={flow.slug} />
                </code>
              </td>
              <td>
                {flow.productionVersion === null ? (
                  <Badge>{flow.latestVersion === null ? 'Not published' : 'None chosen'}</Badge>
                ) : (
                  <Link to={`${FLOW}/versions`} params={params}>
                    v{flow.productionVersion}
                  </Link>
                )}
              </td>
              <td>
                <DraftState flow={flow} />
              </td>
              <td>
                {flow.lastRun ? (
                  <Link
                    className={style.run}
                    to={`${FLOW}/runs/$executionId`}
                    params={{ ...params, executionId: flow.lastRun.executionId }}
                  >
                    <StatusBadge status={flow.lastRun.status} code={flow.lastRun.code} />{' '}
                    <Time at={flow.lastRun.startedAt} />
                  </Link>
                ) : (
                  <span className={style.faint}>Never run</span>
                )}
              </td>
              <td align="right">
                <Menu
                  label={`Actions of ${flow.name}`}
                  trigger={
                    <IconButton label={`Actions of ${flow.name}`} size="small">
                      <Ellipsis size={16} />
                    </IconButton>
                  }
                >
                  <MenuItem onAction={() => void navigate({ to: FLOW, params })}>Edit and try</MenuItem>
                  <MenuItem onAction={() => void navigate({ to: `${FLOW}/versions`, params })}>
                    Versions
                  </MenuItem>
                  <MenuItem onAction={() => void navigate({ to: `${FLOW}/tests`, params })}>
                    Test cases
                  </MenuItem>
                  <MenuItem onAction={() => void navigate({ to: `${FLOW}/call`, params })}>Call it</MenuItem>
                  <MenuItem
                    tone="danger"
                    isDisabled={!hasRole(organization, 'admin')}
                    onAction={() => setToDelete(flow)}
                  >
                    {hasRole(organization, 'admin') ? 'Delete …' : 'Delete (owners and admins)'}
                  </MenuItem>
                </Menu>
              </td>
            </tr>
          );
        })}
      </Table>
      {toDelete && (
        <ConfirmDialog
          title={`Delete ${toDelete.name}?`}
          action="Delete flow"
          isOpen
          onClose={() => setToDelete(undefined)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/projects/{project_id}/flows/{flow_id}', {
              params: { path: { project_id: toDelete.projectId, flow_id: toDelete.id } },
            });
            queryClient.removeQueries({ queryKey: ['flow id', toDelete.projectId] });
            await refetch('/api/v1/projects/{project_id}/flows');
          }}
        >
          Calls of <code>{toDelete.slug}</code> will get 404. Its versions and test cases are deleted too.
        </ConfirmDialog>
      )}
    </>
  );
}

function DraftState({ flow }: { flow: Flow }) {
  if (flow.latestVersion === null) return <Badge tone="warn">Unpublished</Badge>;
  if (!flow.draftIsPublished) return <Badge tone="warn">Differs from v{flow.latestVersion}</Badge>;
  return <span className={style.faint}>Same as v{flow.latestVersion}</span>;
}
