// Measures in one go how much each hostile load slows down an innocent organization.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backends } from '../setup/backends.ts';
import { startFork } from '../setup/load.ts';
import { type BenchService, startBenchService } from '../setup/service.ts';
import { median, quantile } from '../setup/statistics.ts';
import { readUsage } from '../setup/usage.ts';
import { HOSTILE_LOADS, type HostileCall, type HostileLoad } from './hostile-loads.ts';
import { type Innocent, type InnocentResult, startInnocent } from './innocent.ts';

/** Credits of each organization, enough that nothing is refused. */
const CREDITS = 10_000;
/** The pause after a load has begun, and after it has ended. */
const SETTLE_MS = 3_000;
/** The next load begins when the innocent's median is at most this many times the quiet one. */
const QUIET_RATIO = 2;
const QUIET_WAIT_MS = 90_000;
/** The quiet figures, by which all others are judged, come from so many times as many calls. */
const QUIET_ROUNDS = 2;
const SERVICE = 'service';

/** The innocent's results beside one load, by kind of flow. */
type NeighbourRow = {
  load: string;
  kinds: Record<string, InnocentResult>;
  /** The peak memory of the service's processes, in megabytes. */
  peakMb: number;
  /** How the service's process ended, if it did. */
  ended?: string;
  /** Why the load is not what its name says, if it is not: the row says nothing then. */
  void?: string;
};

type Neighbours = { quiet: NeighbourRow; rows: NeighbourRow[] };

/** Measures every load whose name contains `filter`, `seconds` each. */
export async function measureNeighbours(
  backends: Backends,
  { seconds, filter }: { seconds: number; filter: string },
  report: (line: string) => void,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Neighbours> {
  const innocent = await startInnocent();
  onStop(innocent.stop);
  const models = startFork(new URL('../candidates/model-server.ts', import.meta.url));
  onStop(models.stop);
  const hostile = startFork(new URL('../candidates/hostile-servers.ts', import.meta.url));
  onStop(hostile.stop);
  const { url: demoUrl } = (await models.receive()) as { url: string };
  const { modelUrl, ...hanging } = (await hostile.receive()) as Innocent['receiver'] & { modelUrl: string };
  const caFile = path.join(backends.stateFolder, 'receivers-ca.pem');
  writeFileSync(caFile, innocent.receiver.ca + hanging.ca);
  const receivers = [innocent.receiver, hanging].map(({ host, address }) => [host, address]);
  const env = {
    DEMO_BASE_URL: demoUrl,
    OPENROUTER_BASE_URL: modelUrl,
    OPENROUTER_API_KEY: 'bench',
    WEIR_TEST_DIAL_MAP: JSON.stringify(Object.fromEntries(receivers)),
    WEIR_WEBHOOK_CA_FILE: caFile,
  };
  const service = await startBenchService(backends, env, onStop);
  await innocent.settle(await service.createTenant('innocent', CREDITS));
  report('warming up');
  await innocent.call(5);
  report('quiet');
  const quiet = {
    load: 'quiet',
    ...(await watchMemory(service, () => innocent.call(QUIET_ROUNDS * seconds))),
  };
  const rows: NeighbourRow[] = [];
  for (const [index, load] of HOSTILE_LOADS.entries()) {
    if (!load.name.includes(filter)) continue;
    report(load.name);
    const row = await measureBeside(load, `hostile-${index}`);
    rows.push(row);
    report(formatRow(row, quiet).join('  '));
    await service.revive();
    await waitForQuiet(innocent, quiet);
  }
  return { quiet, rows };

  async function measureBeside({ name, steps }: HostileLoad, slug: string): Promise<NeighbourRow> {
    const { key, organizationId, projectId, createFlow } = await service.createTenant(slug, CREDITS);
    const flowUrl = await createFlow(steps);
    const { apiUrl } = service;
    const flowsUrl = `${apiUrl}/projects/${projectId}/flows`;
    const at = { key, organizationId, flowUrl, flowsUrl, apiUrl, hangingHost: hanging.host };
    const child = service.child();
    const callers = startFork(new URL('../candidates/hostile-callers.ts', import.meta.url));
    onStop(callers.stop);
    let problem: string | undefined;
    const measured = await watchMemory(service, async () => {
      callers.send({ name, at } satisfies HostileCall);
      ({ problem } = (await callers.receive().catch((error: unknown) => ({ problem: String(error) }))) as {
        problem?: string;
      });
      if (problem !== undefined) report(`${name}: ${problem}`);
      await sleep(SETTLE_MS);
      return innocent.call(seconds);
    });
    if (callers.hasExited()) problem ??= 'its callers ended';
    await callers.stop();
    await cancelRuns(service, organizationId);
    await untilEnded(service, organizationId);
    await sleep(SETTLE_MS);
    return {
      load: name,
      ...measured,
      ...(child.hasExited() && { ended: await child.exited }),
      ...(problem !== undefined && { void: problem }),
    };
  }
}

/** Cancels the hostile organization's remaining runs, as its callers could. */
async function cancelRuns({ db }: BenchService, organizationId: string): Promise<void> {
  await db
    .updateTable('run')
    .set({ cancel_requested_at: new Date() })
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'started')
    .execute();
}

/** Waits until the runs have ended, so that the next load is not measured beside that. */
async function untilEnded({ db }: BenchService, organizationId: string): Promise<void> {
  const runs = db
    .selectFrom('run')
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'started');
  for (const until = performance.now() + QUIET_WAIT_MS; performance.now() < until; await sleep(500))
    if (!(await runs.select('execution_id').executeTakeFirst())) return;
}

async function watchMemory(service: BenchService, work: () => Promise<NeighbourRow['kinds']>) {
  let peakMb = 0;
  const timer = setInterval(() => {
    const { pid } = service.child();
    peakMb = Math.max(peakMb, readUsage({ [SERVICE]: pid })[SERVICE]?.residentMb ?? 0);
  }, 500);
  try {
    return { kinds: await work(), peakMb };
  } finally {
    clearInterval(timer);
  }
}

async function waitForQuiet(innocent: Innocent, quiet: NeighbourRow): Promise<void> {
  const deadline = Date.now() + QUIET_WAIT_MS;
  while (Date.now() < deadline) {
    const now = await innocent.call(2);
    const isQuiet = Object.entries(now).every(
      ([kind, { latencies, failures }]) =>
        failures.length === 0 &&
        median(latencies) <= QUIET_RATIO * median(quiet.kinds[kind]?.latencies ?? []),
    );
    if (isQuiet) return;
  }
}

const P95_RATIO_MAX = 3;
const P95_ADDED_MAX_MS = 200;
const MEMORY_MAX_MB = 2_048;

/** Tells whether p95 is at most 3 times the quiet one and at most 1 s longer, nothing failed and memory is bounded. */
function isReached(row: NeighbourRow, quiet: NeighbourRow): boolean {
  const steady = Object.entries(row.kinds).every(([kind, { latencies, failures }]) => {
    const before = quantile(quiet.kinds[kind]?.latencies ?? [], 0.95);
    const p95 = quantile(latencies, 0.95);
    return failures.length === 0 && p95 <= Math.max(P95_RATIO_MAX * before, before + P95_ADDED_MAX_MS);
  });
  return steady && row.peakMb <= MEMORY_MAX_MB && row.ended === undefined;
}

function formatRow(row: NeighbourRow, quiet: NeighbourRow): string[] {
  const failures = Object.values(row.kinds).flatMap((kind) => kind.failures);
  return [
    row.load,
    ...Object.entries(row.kinds).map(([kind, { latencies }]) => {
      const p95 = quantile(latencies, 0.95);
      const ratio = p95 / quantile(quiet.kinds[kind]?.latencies ?? [], 0.95);
      return row === quiet ? p95.toFixed(0) : `${p95.toFixed(0)} (× ${ratio.toFixed(1)})`;
    }),
    String(failures.length),
    row.peakMb.toFixed(0),
    row === quiet ? '' : describeAim(row, quiet),
  ];
}

function describeAim(row: NeighbourRow, quiet: NeighbourRow): string {
  if (row.void !== undefined) return `void: ${row.void}`;
  if (row.ended !== undefined) return `the service ${row.ended}`;
  return isReached(row, quiet) ? 'yes' : 'NO';
}

/** Formats a Markdown table: p95 in milliseconds by kind of flow, and its multiple of the quiet one. */
export function formatNeighbours({ quiet, rows }: Neighbours): string {
  const kinds = Object.keys(quiet.kinds);
  const lines = [
    ['beside', ...kinds.map((kind) => `${kind}, p95 ms`), 'failed', 'memory MB', 'aim'],
    ['---', ...kinds.map(() => '---'), '---', '---', '---'],
    ...[quiet, ...rows].map((row) => formatRow(row, quiet)),
  ];
  const failures = rows.flatMap((row) =>
    Object.entries(row.kinds).flatMap(([kind, result]) =>
      result.failures.slice(0, 1).map((failure) => `${row.load}, ${kind}: ${failure}`),
    ),
  );
  return [...lines.map((cells) => `| ${cells.join(' | ')} |`), '', ...failures].join('\n');
}
