import { $api } from '../api/client.ts';
import { formatCount } from '../ui/format.ts';
import { Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Fact, Facts } from '../ui/table.tsx';

/** Shows the rate limits of the organization, which the operator of the service sets. */
export function RateLimitsPanel({ organizationId }: { organizationId: string }) {
  const query = $api.useQuery('get', '/api/v1/organizations/{org_id}/rate-limits', {
    params: { path: { org_id: organizationId } },
  });
  return (
    <Panel title="Rate limits">
      <QueryView query={query}>
        {({ perKey, perOrganization, runsUnderWay }) => (
          <Facts>
            <Fact name="Each API key, each user">{perMinute(perKey)}</Fact>
            <Fact name="All API keys together">{perMinute(perOrganization)}</Fact>
            <Fact name="Runs under way">
              {runsUnderWay === null ? 'No limit' : `${formatCount(runsUnderWay)} at a time`}
            </Fact>
          </Facts>
        )}
      </QueryView>
      <p>
        A request over a limit gets 429 with the seconds to wait (<code>Retry-After</code>). Usage counts them
        by day. The operator of the service sets the limits.
      </p>
    </Panel>
  );
}

function perMinute(limit: number | null): string {
  return limit === null ? 'No limit' : `${formatCount(limit)} requests per minute`;
}
