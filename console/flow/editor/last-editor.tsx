import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { hasRole, useOrganization } from '../../shell/me.ts';
import { Time } from '../../ui/time.tsx';
import { useDraft } from '../draft/draft-context.ts';
import { useFlow } from '../flow-context.ts';

/**
 * Says who changed the flow last and when, to users who may read the audit log. Fetched once for each `change` of a
 * visit.
 */
export function LastEditor({ change }: { change: string }) {
  const { flow, org } = useFlow();
  const { openedAt } = useDraft();
  const organization = useOrganization(org);
  const { data } = useQuery({
    queryKey: ['last editor', flow.id, openedAt, change],
    queryFn: async () => {
      const { data } = await api.GET('/api/v1/organizations/{org_id}/audit-log', {
        params: { path: { org_id: organization.id }, query: { action: 'flow.edit', limit: 100 } },
      });
      return data?.entries.find(({ resourceId }) => resourceId === flow.id) ?? null;
    },
    enabled: hasRole(organization, 'admin'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!data) return null;
  return (
    <span>
      By {data.actorName ?? data.actorEmail ?? data.actor}, <Time at={data.at} />.
    </span>
  );
}
