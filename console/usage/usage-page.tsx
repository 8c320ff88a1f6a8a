import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { $api } from '../api/client.ts';
import { PAGES } from '../api/pages.ts';
import { useOrganization } from '../shell/me.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { formatCompact, formatCount, formatCredits, formatDuration } from '../ui/format.ts';
import { MoreButton } from '../ui/more-button.tsx';
import { Page, Panel, Row } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Select } from '../ui/select.tsx';
import { Fact, Facts } from '../ui/table.tsx';
import { DownloadButton } from './download-button.tsx';
import { daysOf, type UsageSearch } from './search.ts';
import { UsageCharts } from './usage-charts.tsx';
import { UsageTable } from './usage-table.tsx';

const RANGES = [
  { id: '7d', label: 'Last 7 days' },
  { id: '30d', label: 'Last 30 days' },
  { id: '90d', label: 'Last 90 days' },
  { id: '365d', label: 'Last 365 days' },
] as const;
const DIVISION_OPTIONS = [
  { id: 'day', label: 'By day' },
  { id: 'project', label: 'By project' },
  { id: 'flow', label: 'By flow' },
  { id: 'version', label: 'By version' },
  { id: 'model', label: 'By model' },
  { id: 'key', label: 'By API key' },
] as const;
const USAGE = '/api/v1/organizations/{org_id}/usage';
const PAGE = 100;
const DAYS_MAX = 200;
/** Keeps the space of the numbers until they are loaded. */
const NO_DAYS = { pages: [], pageParams: [] };

/** The usage of an organization: totals, charts by day, and a table. */
export function UsagePage() {
  const { org } = useParams({ from: '/orgs/$org/usage' });
  const search = useSearch({ from: '/orgs/$org/usage' });
  const navigate = useNavigate({ from: '/orgs/$org/usage' });
  const organization = useOrganization(org);
  const range = search.range ?? '30d';
  const by = search.by ?? 'day';
  const project = organization.projects.find(({ slug }) => slug === search.project);
  const path = { org_id: organization.id };
  const wanted = { ...daysOf(range), ...(project && { project_id: project.id }) };
  const days = $api.useInfiniteQuery(
    'get',
    USAGE,
    { params: { path, query: { ...wanted, by: 'day', limit: DAYS_MAX } } },
    PAGES,
  );
  // A year has more days than one page.
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = days;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);
  const parts = $api.useInfiniteQuery(
    'get',
    USAGE,
    { params: { path, query: { ...wanted, by, limit: PAGE } } },
    PAGES,
  );
  function change(changed: UsageSearch) {
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true });
  }
  return (
    <Page
      title="Usage"
      text="Days are in UTC. Ended runs count within a minute; runs under way count once they end."
      actions={<DownloadButton organization={organization} wanted={wanted} by={by} />}
    >
      <Row>
        <Select
          label="Time"
          hideLabel
          options={RANGES}
          value={range}
          onChange={(id) => change({ range: id })}
        />
        <Select
          label="Project"
          hideLabel
          options={[
            { id: '', label: 'All projects' },
            ...organization.projects.map(({ slug, name }) => ({ id: slug, label: name })),
          ]}
          value={project?.slug ?? ''}
          onChange={(id) => change({ project: id || undefined })}
        />
      </Row>
      <QueryView query={days.isPending ? { ...days, data: NO_DAYS } : days}>
        {({ pages }) => {
          const [first] = pages;
          const total = first?.total;
          return (
            <>
              <Panel>
                <Facts>
                  <Fact name="Credits" width="9ch">
                    {total && formatCredits(total.credits)}
                  </Fact>
                  <Fact name="Runs" width="9ch">
                    {total && formatCount(total.runs ?? 0)}
                  </Fact>
                  <Fact name="Failed runs" width="16ch">
                    {total && describeShare(total.failedRuns ?? 0, total.runs ?? 0)}
                  </Fact>
                  <Fact name="Run p50 · p95 · p99" width="26ch">
                    {total && describeLatency(total.runLatencyMs)}
                  </Fact>
                  <Fact name="Model calls" width="9ch">
                    {total && formatCount(total.modelCalls)}
                  </Fact>
                  <Fact name="Failed calls" width="16ch">
                    {total && describeShare(total.failedModelCalls, total.modelCalls)}
                  </Fact>
                  <Fact name="Tokens in · out" width="16ch">
                    {total &&
                      `${formatCompact(total.promptTokens)} · ${formatCompact(total.completionTokens)}`}
                  </Fact>
                  <Fact name="Refused (429)">{total && formatCount(total.refused ?? 0)}</Fact>
                </Facts>
              </Panel>
              {days.isFetchNextPageError && !isFetching && (
                <ErrorNote error={days.error as Error} onRetry={() => void fetchNextPage()} />
              )}
              <UsageCharts
                range={first ?? wanted}
                entries={first && pages.flatMap(({ entries }) => entries)}
              />
            </>
          );
        }}
      </QueryView>
      <Panel
        title="In numbers"
        isFlush
        actions={
          <Select
            label="Divide by"
            hideLabel
            options={DIVISION_OPTIONS}
            value={by}
            onChange={(id) => change({ by: id })}
          />
        }
      >
        <QueryView query={parts}>
          {({ pages }) => <UsageTable entries={pages.flatMap(({ entries }) => entries)} by={by} />}
        </QueryView>
        <MoreButton query={parts} />
      </Panel>
    </Page>
  );
}

type Latency = { p50: number; p95: number; p99: number } | null;

function describeLatency(latency: Latency): string {
  if (latency === null) return '—';
  return [latency.p50, latency.p95, latency.p99].map(formatDuration).join(' · ');
}

function describeShare(part: number, whole: number): string {
  if (part === 0) return '0';
  return `${formatCount(part)} (${((100 * part) / whole).toFixed(1)} %)`;
}
