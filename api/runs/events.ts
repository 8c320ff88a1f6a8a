// GET …/jobs/{executionId}/events: a running or finished run as Server-Sent Events.
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { listRecordedBlocks } from '../../db/runs/list-recorded-blocks.ts';
import { findRun, type RunRow } from '../../db/runs/runs.ts';
import { authenticate } from '../auth/authenticate.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { rateLimitHeaders } from '../http/headers.ts';
import { validationError } from '../http/json-body.ts';
import { StreamInterruption } from '../http/stream-interruption.ts';
import { flowPaths, READ_ERRORS, VALIDATION_ERRORS } from '../reference/operations.ts';
import { describeBlockExecution } from './describe-block-execution.ts';
import { describeRun } from './describe-run.ts';
import {
  answerEvents,
  formatEvent,
  HEARTBEAT,
  HEARTBEAT_MS,
  mayRead,
  RETRY,
  readerSignal,
} from './event-stream.ts';
import { loadFlow } from './load-flow.ts';
import { loadRun } from './load-run.ts';
import { readReceipt } from './receipt.ts';
import { runEvents } from './requests.ts';

/** Looking is one indexed query; announcing every block would slow every commit, listened to or not. */
const LOOK_MS = 250;

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
            'An event per block execution, in the order they ended, then the end of the run and of the stream; or stream_interrupted, when the stream has to end before.',
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
    const { run } = ctx.state;
    const sent = ctx.get('last-event-id');
    const parsed = lastEventId.safeParse(sent === '' ? {} : { 'Last-Event-ID': sent });
    if (!parsed.success) throw validationError(parsed.error);
    const after = sent === '' ? undefined : BigInt(sent);
    if (after !== undefined && (await isOver(deps, run, after))) {
      ctx.status = 204;
      return;
    }
    // A reader goes on with another process at once: nothing of this one is needed.
    const signal = readerSignal(ctx, deps.stopping);
    const events = follow(deps, run, after, () => mayRead(deps, ctx), signal);
    answerEvents(ctx, run.execution_id, events);
  };
}

/** The end follows the last block by one. */
async function isOver({ db }: ApiDeps, run: RunRow, after: bigint): Promise<boolean> {
  if (after === 0n) return false;
  const { status, blocks } = await listRecordedBlocks(db, run.execution_id, after - 1n);
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
  yield RETRY;
  if (after === undefined)
    yield formatEvent('0', 'run_started', await describeRun(deps, { ...run, ...STARTED }));
  while (!signal.aborted) {
    const { status, blocks } = await listRecordedBlocks(deps.db, run.execution_id, last);
    for (const block of blocks) {
      last = BigInt(block.recorded);
      yield formatEvent(String(last), `block_${block.status}`, describeBlockExecution(block));
    }
    if (status !== 'started') {
      const ended = (await findRun(deps.db, run.flow_id, run.execution_id)) ?? run;
      const receipt = await readReceipt(deps.db, run.execution_id);
      yield formatEvent(String(last + 1n), `run_${status}`, {
        ...(await describeRun(deps, ended)),
        ...receipt,
      });
      return;
    }
    if (performance.now() - beatAt >= HEARTBEAT_MS) {
      if (!(await isAllowed())) throw new StreamInterruption('unauthorized');
      yield HEARTBEAT;
      beatAt = performance.now();
    }
    await setTimeout(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  throw new StreamInterruption('stopping');
}

/** The first event is the same whenever it is asked for. */
const STARTED = { status: 'started', error: null, finished_at: null, cost_microcredits: 0 } as const;
