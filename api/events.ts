// GET …/jobs/{executionId}/events: a running or finished run as Server-Sent Events.
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { findRole } from '../db/memberships.ts';
import { listRecorded } from '../db/run-events.ts';
import { findRun, type RunRow } from '../db/runs.ts';
import { authenticate, isUsable } from './authenticate.ts';
import type { ApiDeps, ApiMiddleware, Route } from './context.ts';
import { validationError } from './json-body.ts';
import { limitRate } from './limit-rate.ts';
import { loadFlow } from './load-flow.ts';
import { loadRun } from './load-run.ts';
import { flowPaths, READ_ERRORS, VALIDATION_ERRORS } from './operations.ts';
import type { Principal } from './principal.ts';
import { rateLimitHeaders, runEvents } from './requests.ts';
import { toBlockRun } from './to-block-run.ts';
import { toRun } from './to-run.ts';

/** Looking is one indexed query; announcing every block would slow every commit, listened to or not. */
const LOOK_MS = 250;
const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 1_000;

const lastEventId = z.strictObject({
  'Last-Event-ID': z
    .string()
    .regex(/^\d{1,19}$/, 'is the id of an event of this run')
    .optional()
    .meta({ description: 'The last event that was received: the stream goes on after it.' }),
});

/** Streams runs. */
export function eventRoutes(deps: ApiDeps): Route[] {
  return flowPaths('/jobs/:executionId/events').map(({ path, versioned }) => ({
    method: 'get',
    path,
    operation: {
      operationId: versioned ? 'streamVersionJob' : 'streamJob',
      summary: 'A run as it goes, as Server-Sent Events',
      tags: ['Execution'],
      requestParams: { header: lastEventId },
      responses: {
        200: {
          description:
            'An event per block execution, in the order they ended, then the end of the run and of the stream.',
          headers: z.object(rateLimitHeaders),
          content: { 'text/event-stream': { schema: runEvents } },
        },
        204: {
          description: 'There is nothing after Last-Event-ID: the run has ended.',
          headers: z.object(rateLimitHeaders),
        },
        ...READ_ERRORS,
        ...VALIDATION_ERRORS,
      },
    },
    handlers: [authenticate(deps), limitRate(deps), loadFlow(deps), loadRun(deps), streamJob(deps)],
  }));
}

function streamJob(deps: ApiDeps): ApiMiddleware {
  return async function streamJob(ctx) {
    const { run, flow, principal } = ctx.state;
    const sent = ctx.get('last-event-id');
    const parsed = lastEventId.safeParse(sent === '' ? {} : { 'Last-Event-ID': sent });
    if (!parsed.success) throw validationError(parsed.error);
    const after = sent === '' ? undefined : BigInt(sent);
    if (after !== undefined && (await isOver(deps, run, after))) {
      ctx.status = 204;
      return;
    }
    const gone = new AbortController();
    ctx.res.once('close', () => gone.abort());
    const signal = deps.stopping ? AbortSignal.any([gone.signal, deps.stopping]) : gone.signal;
    const isAllowed = () => mayStillRead(deps, principal, flow.organizationId);
    ctx.set({
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    });
    // Nothing is read from the database for a reader who does not take what there is.
    const events = endOnError(follow(deps, run, after, isAllowed, signal), signal);
    ctx.body = Readable.from(events, { highWaterMark: 1 });
  };
}

async function mayStillRead(
  { db, keys }: ApiDeps,
  principal: Principal,
  organizationId: string,
): Promise<boolean> {
  if (principal.kind === 'key') return isUsable(await keys.find(principal.key.key_id));
  if (principal.expiresAt.getTime() <= Date.now()) return false;
  return (await findRole(db, organizationId, principal.userId)) !== undefined;
}

/** The end follows the last block by one. */
async function isOver({ db }: ApiDeps, run: RunRow, after: bigint): Promise<boolean> {
  if (after === 0n) return false;
  const { status, blocks } = await listRecorded(db, run.execution_id, after - 1n);
  return status !== 'started' && blocks.length === 0;
}

async function* follow(
  deps: ApiDeps,
  run: RunRow,
  after: bigint | undefined,
  isAllowed: () => Promise<boolean>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let last = after ?? 0n;
  let beatAt = performance.now();
  yield `retry: ${RECONNECT_MS}\n\n`;
  if (after === undefined) yield event(0n, 'run_started', await toRun(deps.db, { ...run, ...STARTED }));
  while (!signal.aborted) {
    const { status, blocks } = await listRecorded(deps.db, run.execution_id, last);
    for (const block of blocks) {
      last = BigInt(block.recorded);
      yield event(last, `block_${block.status}`, toBlockRun(block));
    }
    if (status !== 'started') {
      const ended = (await findRun(deps.db, run.flow_id, run.execution_id)) ?? run;
      yield event(last + 1n, `run_${status}`, await toRun(deps.db, ended));
      return;
    }
    if (performance.now() - beatAt >= HEARTBEAT_MS) {
      if (!(await isAllowed())) return;
      yield ':\n\n';
      beatAt = performance.now();
    }
    await setTimeout(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** A stream that ends is asked for again, and goes on where it was. */
async function* endOnError(events: AsyncGenerator<string>, signal: AbortSignal): AsyncGenerator<string> {
  try {
    yield* events;
  } catch (error) {
    if (!signal.aborted) console.error(`A stream of events was ended: ${error}`);
  }
}

/** The first event is the same whenever it is asked for. */
const STARTED = { status: 'started', error: null, finished_at: null, cost_microcredits: 0 } as const;

function event(id: bigint, name: string, data: object): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
