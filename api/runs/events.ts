// GET …/jobs/{executionId}/events: a running or finished run as Server-Sent Events.
import { z } from 'zod';
import { countBlockRuns } from '../../db/runs/block-runs.ts';
import { listBlocksUnderWay } from '../../db/runs/blocks-under-way.ts';
import { listRecordedBlocks } from '../../db/runs/recorded-blocks.ts';
import { findRun, type RunRow } from '../../db/runs/runs.ts';
import { identifyCaller, mayStillRead } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import {
  createEventStream,
  createHeartbeat,
  EVENT_STREAM_HEADERS,
  formatEvent,
  RETRY,
  StreamInterruption,
} from '../http/event-stream.ts';
import { rateLimitHeaders } from '../http/headers.ts';
import { validationError } from '../http/json-body.ts';
import { holdOpen } from '../http/open-requests.ts';
import { readQuery } from '../http/query.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { reserveEvent } from '../http/reserve-bytes.ts';
import { RUN_PATH, VALIDATION_ERRORS } from '../reference/operations.ts';
import { loadFlowIds, loadRun } from './calls/load-flow.ts';
import { WAIT_ERRORS } from './run-errors.ts';
import { runEvents } from './run-shapes/answers.ts';
import { describeBlockExecution, measureReceipt, readReceipt } from './run-shapes/block-answers.ts';
import { type BlockUpdate, createBlockEvents, describeBlockUpdate } from './run-shapes/block-under-way.ts';
import { describeRun } from './run-shapes/describe-run.ts';
import type { Updates } from './updates.ts';

const eventId = z.string().regex(/^\d{1,19}$/, 'must be the id of an event of this run');
const lastEventId = z.strictObject({
  'Last-Event-ID': eventId
    .optional()
    .meta({ description: 'The id of the last event you received. The stream continues after this event.' }),
});
const streamQuery = z.strictObject({
  lastEventId: eventId.optional().meta({
    description:
      'The same as Last-Event-ID, for clients that cannot send headers. Last-Event-ID takes precedence.',
  }),
});

/** Lists the endpoint that streams a run. */
export function eventRoutes(deps: ApiDeps, updates: Updates): Route[] {
  return [
    {
      method: 'get',
      path: `${RUN_PATH}/events`,
      operation: {
        operationId: 'streamJob',
        summary: 'Follow a run as Server-Sent Events',
        tags: ['Execution'],
        requestParams: { header: lastEventId, query: streamQuery },
        responses: {
          200: {
            description:
              'Each block execution sends block_started and an end event. End events come in order of time. The end of the run closes the stream. A stream that closes earlier sends stream_interrupted last. Events without an `id` show blocks in flight and are sent again after a reconnect.',
            headers: z.object(rateLimitHeaders),
            content: { 'text/event-stream': { schema: runEvents } },
          },
          204: {
            description: 'The run has ended, and there is nothing after Last-Event-ID.',
            headers: z.object(rateLimitHeaders),
          },
          ...WAIT_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run', 'read'),
        readQuery(streamQuery),
        loadFlowIds(deps, { deletedToo: true }),
        holdOpen(deps, 'follow'),
        loadRun(deps),
        streamJob(deps, updates),
      ],
    },
  ];
}

function streamJob(deps: ApiDeps, updates: Updates): ApiMiddleware {
  return async function streamJob(ctx) {
    const { run, principal, flowIds } = ctx.state;
    const query = ctx.state.query as z.infer<typeof streamQuery>;
    const sent = ctx.get('last-event-id') || (query.lastEventId ?? '');
    const parsed = lastEventId.safeParse(sent === '' ? {} : { 'Last-Event-ID': sent });
    if (!parsed.success) throw validationError(parsed.error);
    const known = sent === '' ? 'none' : await positionOf(deps, run, BigInt(sent));
    if (known === 'end') {
      ctx.status = 204;
      return;
    }
    const after = known === 'none' ? undefined : BigInt(sent);
    // The stream ends as soon as this process stops: the client can continue with another process.
    const signal = readerSignal(ctx.res, deps.stopping);
    const reader = {
      organizationId: flowIds.organizationId,
      mayRead: () => mayStillRead(deps, principal, flowIds.organizationId),
      signal,
    };
    const events = follow(deps, updates, run, after, reader);
    ctx.set(EVENT_STREAM_HEADERS);
    ctx.body = createEventStream(run.execution_id, events);
  };
}

/**
 * Returns the position of event `after` in a run. The end's id is that of the last block plus one. A higher id
 * belongs to another run or to a database from before a restore: the client gets everything.
 */
async function positionOf({ db }: ApiDeps, run: RunRow, after: bigint): Promise<'none' | 'before' | 'end'> {
  if (after === 0n) return 'before';
  const { status, blocks: later } = await listRecordedBlocks(db, run.execution_id, after - 1n);
  if (later.length > 0) return 'before';
  if (after > 1n) {
    const { blocks: last } = await listRecordedBlocks(db, run.execution_id, after - 2n);
    if (last.length === 0) return 'none';
  }
  return status === 'started' ? 'before' : 'end';
}

type Reader = { organizationId: string; mayRead(): Promise<boolean>; signal: AbortSignal };

async function* follow(
  deps: ApiDeps,
  updates: Updates,
  run: RunRow,
  after: bigint | undefined,
  { organizationId, mayRead, signal }: Reader,
): AsyncGenerator<string> {
  let last = after ?? 0n;
  let known = after === undefined ? 0 : await countBlockRuns(deps.db, run.execution_id);
  const heartbeat = createHeartbeat(mayRead);
  yield RETRY;
  if (after === undefined)
    yield formatEvent('0', 'run_started', await describeRun(deps, { ...run, ...STARTED }));
  const blockEvents = createBlockEvents();
  let lastUnderWay = 0n;
  while (!signal.aborted) {
    const { underWay, status, blocks, isFull } = await updates.share(
      `${run.execution_id} after ${last}`,
      () => readBlocks(deps, run, last),
    );
    for (const block of blocks) {
      for (const event of blockEvents.end(block)) yield formatUpdate(event);
      last = BigInt(block.recorded);
      known += 1;
      yield formatEvent(String(last), `block_${block.status}`, describeBlockExecution(block));
    }
    if (isFull) continue;
    if (status !== 'started') {
      const bytes = await measureReceipt(deps.db, run.execution_id);
      using _permit = await reserveEvent(deps, organizationId, bytes, signal);
      const end = await updates.share(`${run.execution_id} at its end`, () => readEnd(deps, run));
      yield formatEvent(String(last + 1n), `run_${status}`, end);
      return;
    }
    const ended = new Set(blocks.map(({ block_key }) => block_key));
    const begun = underWay.filter(({ block_key, settled }) => settled && !ended.has(block_key));
    for (const event of blockEvents.update(begun)) yield formatUpdate(event);
    for (const { recorded } of begun) if (BigInt(recorded) > lastUnderWay) lastUnderWay = BigInt(recorded);
    const place = { executionId: run.execution_id, after: last, underWay: lastUnderWay };
    const followed = { ...place, organizationId, known };
    for (let isUpdated = false; !isUpdated && !signal.aborted; ) {
      isUpdated = await updates.wait(followed, heartbeat.dueInMs(), signal);
      if (!signal.aborted) yield* heartbeat.beat();
    }
  }
  throw new StreamInterruption('stopping');
}

/** Reads the blocks in flight of a run, and the blocks recorded after `after`. */
async function readBlocks({ db }: ApiDeps, { execution_id: executionId }: RunRow, after: bigint) {
  // Read first, so that no block begins after its end.
  const underWay = await listBlocksUnderWay(db, executionId);
  return { underWay, ...(await listRecordedBlocks(db, executionId, after)) };
}

async function readEnd(deps: ApiDeps, run: RunRow): Promise<object> {
  const ended = (await findRun(deps.db, run.flow_id, run.execution_id)) ?? run;
  const receipt = await readReceipt(deps, run.execution_id);
  return { ...(await describeRun(deps, ended)), ...receipt };
}

function formatUpdate(event: BlockUpdate): string {
  return formatEvent(undefined, event.name, describeBlockUpdate(event));
}

/** The first event shows the run as it started, so that it is always the same. */
const STARTED = { status: 'started', error: null, finished_at: null, cost_microcredits: 0 } as const;
