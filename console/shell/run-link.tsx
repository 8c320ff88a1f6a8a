import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { api } from '../api/client.ts';
import { shortId } from '../ui/format.ts';
import type { MyOrganization } from './me.ts';
import style from './run-link.module.css';

type Props = { organization: MyOrganization; executionId: string };

/** Links to a run by its id. A click asks the service for the project and flow. */
export function RunLink({ organization, executionId }: Props) {
  const navigate = useNavigate();
  const open = useMutation({
    async mutationFn() {
      const { data } = await api.GET('/api/v1/organizations/{org_id}/runs', {
        params: { path: { org_id: organization.id }, query: { id: executionId, limit: 1 } },
      });
      const run = data?.runs[0];
      if (!run)
        throw new Error('The run was not found: it was deleted, or the id is one call of a longer run.');
      await navigate({
        to: '/orgs/$org/projects/$project/flows/$flow/runs/$executionId',
        params: { org: organization.slug, project: run.project, flow: run.flow, executionId },
      });
    },
  });
  return (
    <Button
      className={style.link ?? ''}
      aria-label={`Open the run ${executionId}`}
      onPress={() => !open.isPending && open.mutate()}
    >
      run {shortId(executionId)}
    </Button>
  );
}
