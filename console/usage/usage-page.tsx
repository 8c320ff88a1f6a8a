import { useMutation } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { $api, api, type Schemas } from '../api/client.ts';
import { PAGES } from '../api/query-options.ts';
import { type MyOrganization, useOrganization } from '../shell/me.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState, ErrorNote, MoreButton, QueryView } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { formatCompact, formatCount, formatCredits, formatDuration } from '../ui/format.ts';
import { Clipped, Fact, Facts, Page, Panel, Row, Table } from '../ui/page.tsx';
import { saveFile } from '../ui/save-file.ts';
import { type Division, daysOf, type UsageSearch } from './search.ts';
import { UsageCharts } from './usage-charts.tsx';
import { COLUMNS, type Entry, nameEntry, toCsv } from './usage-columns.ts';

type Props = {
  organization: MyOrganization;
  wanted: { from: string; to: string; project_id?: string };
  by: Division;
};

type Total = Schemas['UsageReport']['total'];

const HEADS: Record<Division, string> = {
  day: 'Day (UTC)',
  project: 'Project',
  flow: 'Flow',
  version: 'Version',
  model: 'Model',
  key: 'API key',
};

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

/** The sums above the charts: name, value, and the width of the longest value. */
const SUMS: [name: string, show: (total: Total) => string, width?: string][] = [
  ['Credits', ({ credits }) => formatCredits(credits), '9ch'],
  ['Runs', ({ runs }) => formatCount(runs ?? 0), '9ch'],
  ['Failed runs', ({ failedRuns, runs }) => describeShare(failedRuns ?? 0, runs ?? 0), '16ch'],
  ['Cancelled · refused', (total) => both(formatCount, total.cancelledRuns, total.refusedRuns), '16ch'],
  ['Run p50 · p95 · p99', ({ runLatencyMs }) => describeLatency(runLatencyMs), '26ch'],
  ['Model calls', ({ modelCalls }) => formatCount(modelCalls), '9ch'],
  ['Failed calls', ({ failedModelCalls, modelCalls }) => describeShare(failedModelCalls, modelCalls), '16ch'],
  ['Tokens in · out', (total) => both(formatCompact, total.promptTokens, total.completionTokens), '16ch'],
  [
    'Cached · written to a cache',
    (total) => both(formatCompact, total.cachedTokens, total.cacheWriteTokens),
    '26ch',
  ],
  ['Reasoning tokens', ({ reasoningTokens }) => formatCompact(reasoningTokens), '16ch'],
  ['Refused (429)', ({ refused }) => formatCount(refused ?? 0)],
];

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
                  {SUMS.map(([name, show, width]) => (
                    <Fact key={name} name={name} {...(width && { width })}>
                      {total && show(total)}
                    </Fact>
                  ))}
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

function both(format: (count: number) => string, one: number | null, other: number | null): string {
  return `${format(one ?? 0)} · ${format(other ?? 0)}`;
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

function UsageTable({ entries, by }: { entries: Entry[]; by: Division }) {
  if (entries.length === 0)
    return <EmptyState title="Nothing was used" text="No run has ended in this time. Choose a longer one." />;
  return (
    <Table label={`Usage by ${by}`} head={[HEADS[by], ...COLUMNS.map(({ name }) => name)]}>
      {entries.map((entry) => {
        const name = nameEntry(entry, by);
        return (
          <tr
            key={[entry.day, entry.projectId, entry.flowId, entry.version, entry.model, entry.keyId].join()}
          >
            <td>
              <Clipped text={name} />
            </td>
            {COLUMNS.map((column) => {
              const value = column.value(entry);
              return <td key={column.name}>{typeof value === 'number' ? column.show(value) : '—'}</td>;
            })}
          </tr>
        );
      })}
    </Table>
  );
}

/** Downloads the table, with all of its pages, as CSV. */
function DownloadButton({ organization, wanted, by }: Props) {
  const download = useMutation({
    async mutationFn() {
      const entries: Entry[] = [];
      let cursor: string | null | undefined;
      do {
        const { data } = await api.GET('/api/v1/organizations/{org_id}/usage', {
          params: {
            path: { org_id: organization.id },
            query: { ...wanted, by, limit: 200, ...(cursor && { cursor }) },
          },
        });
        entries.push(...(data?.entries ?? []));
        cursor = data?.nextCursor;
      } while (cursor);
      const rows = entries.map((entry) => [
        nameEntry(entry, by),
        ...COLUMNS.map((column) => column.value(entry)),
      ]);
      const csv = toCsv([by, ...COLUMNS.map(({ name }) => name)], rows);
      saveFile(
        new Blob([csv], { type: 'text/csv' }),
        `weir-${organization.slug}-usage-by-${by}-${wanted.from}-${wanted.to}.csv`,
      );
    },
  });
  return (
    <Button isPending={download.isPending} onPress={() => download.mutate()}>
      Download CSV
    </Button>
  );
}
