// run_test_case and run_all_tests: run the draft or a version of a flow like a caller, and judge the responses.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { z } from 'zod';
import { inTransaction, type Tx } from '../../db/connect.ts';
import { repeatLostWrite } from '../../db/connection/database-errors.ts';
import { snapshotDraft } from '../../db/flows/draft-snapshots.ts';
import type { VisibleFlow } from '../../db/flows/find-flow.ts';
import { measureDraft } from '../../db/flows/flow-designs.ts';
import { findVersion } from '../../db/flows/versions.ts';
import { requireQuotaOfTests } from '../../db/runs/runs-under-way.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { findTestCase, listTestCases } from '../../db/test-runs/test-cases.ts';
import { insertTestRun } from '../../db/test-runs/test-runs.ts';
import { createTimedId } from '../../db/timed-id.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { VERSION_MAX } from '../../flow/limits.ts';
import { logEngineFailure } from '../../temporal/ask-engine.ts';
import { startTestRun } from '../../temporal/start-run.ts';
import { untilClosed } from '../../temporal/wait-for-run.ts';
import { type Caller, requireLockedFlow, requireVisibleFlow } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import { requireRunnable } from '../flows/draft-problems.ts';
import { loadDraftOf } from '../flows/flow-of-path.ts';
import { codeReaderOf } from '../flows/read-code-of.ts';
import { onceFor } from '../http/keyed-request.ts';
import { invalidField, toRetryLater } from '../http/request-errors.ts';
import { reserveBytes } from '../http/reserve-bytes.ts';
import { acquireStart } from '../runs/calls/admit.ts';
import { requireMayRun } from '../runs/calls/check-request.ts';
import { describeTestRun, type TestRun } from './describe-test-run.ts';

/** Less than the default timeout of MCP clients, 60 s. */
export const TOOL_WAIT_MS = 45_000;
/** Time to read the response of a test case afterwards. */
const ANSWER_WAIT_MS = 5_000;

export const NO_TEST_CASES =
  'The flow has no test cases: create one first, with create_test_case (MCP) or POST …/test-cases.';

export const testedVersion = z
  .union([z.enum(['draft', 'production']), z.int().min(1).max(VERSION_MAX)], {
    error: 'must be "draft", "production" or the number of a published version',
  })
  .default('draft')
  .meta({ description: '`draft`, `production` or a published version.', override: { default: 'draft' } });

/** Reads the version to test. Throws VALIDATION_ERROR. */
export function readVersion(version: unknown): z.output<typeof testedVersion> {
  const { data, error } = testedVersion.safeParse(version);
  if (data === undefined) throw invalidField('version', error?.issues[0]?.message ?? 'is not valid');
  return data;
}

/**
 * The version to test, how long to wait for the end, and the signal that aborts when the client has gone or the
 * process stops.
 */
type Options = { version?: z.output<typeof testedVersion>; waitMs?: number; gone?: AbortSignal };

/** Runs one case. Returns its result, or its state after `waitMs`. */
export async function runTestCase(
  deps: ApiDeps,
  caller: Caller,
  testCaseId: string,
  options?: Options,
): Promise<TestRun> {
  const testCase = await findTestCase(deps.db, testCaseId);
  const flow = await requireVisibleFlow(deps, testCase?.flow_id, caller.access, 'test case');
  return runTests(deps, caller, flow, [testCaseId], options);
}

/** Runs all cases of a flow. Returns their results, or their states after `waitMs`. */
export async function runAllTests(
  deps: ApiDeps,
  caller: Caller,
  flowId: string,
  options?: Options,
): Promise<TestRun> {
  const flow = await requireVisibleFlow(deps, flowId, caller.access);
  const testCases = await listTestCases(deps.db, flowId);
  if (testCases.length === 0) throw new ServiceError('CONFLICT', NO_TEST_CASES);
  const ids = testCases.map(({ id }) => id);
  return runTests(deps, caller, flow, ids, options);
}

/** Loads the draft of a flow, which must be able to run, after reserving memory for it. Throws as `reserveBytes` does. */
async function loadRunnableDraft(
  deps: ApiDeps,
  { flowId, organizationId }: VisibleFlow,
  gone: AbortSignal,
): Promise<FlowDefinition> {
  const bytes = await measureDraft(deps.db, flowId);
  using _permit = await reserveBytes(deps.gates.answers, organizationId, bytes, gone);
  const draft = await loadDraftOf(deps.db, flowId);
  await requireRunnable(
    draft,
    deps.validator.of(organizationId),
    codeReaderOf(deps, organizationId),
    deps.registry,
  );
  return draft;
}

/** Finds the flow_version_id of a published version. Throws VALIDATION_ERROR where there is none. */
async function findVersionId(
  { db }: ApiDeps,
  flowId: string,
  version: number | 'production',
): Promise<string> {
  const id = await findVersion(db, flowId, version);
  if (id !== undefined) return id;
  throw invalidField(
    'version',
    version === 'production'
      ? 'names no version: the flow has none in production'
      : `names no published version: there is no version ${version}`,
  );
}

async function runTests(
  deps: ApiDeps,
  caller: Caller,
  flow: VisibleFlow,
  testCaseIds: string[],
  { version = 'draft', waitMs = TOOL_WAIT_MS, gone = new AbortController().signal }: Options = {},
): Promise<TestRun> {
  const { db } = deps;
  const { flowId, organizationId } = flow;
  const earlier = caller.keyed?.earlier;
  if (earlier) return describe(earlier.result as string);
  // Includes the time in the queue.
  const over = waitMs > 0 && AbortSignal.any([AbortSignal.timeout(waitMs), gone]);
  const tested = await (version === 'draft'
    ? loadRunnableDraft(deps, flow, gone)
    : findVersionId(deps, flowId, version));
  requireMayRun(flow);
  const most = flow.runsUnderWayMax ?? deps.config.runsUnderWayMax;
  let testRunId: string = randomUUID();
  const tests = testCaseIds.map((testCaseId) => ({ executionId: createTimedId(), testCaseId }));
  const open = over ? deps.openRequests.call(organizationId) : undefined;
  await startAndWait().finally(() => open?.release());
  // The tests were run and charged, so the caller gets the response, and soon.
  return describe(testRunId);

  function describe(id: string): Promise<TestRun> {
    return describeTestRun(deps, id, flow, {
      needsAnswer: false,
      gone: AbortSignal.timeout(ANSWER_WAIT_MS),
    });
  }

  async function startAndWait(): Promise<void> {
    const permit = await acquireStart(deps, organizationId, { signal: gone });
    const started = await storeAndStart().finally(permit.release);
    if (started && over) await waitForTestRun(deps, testRunId, over);
  }

  async function storeAndStart(): Promise<boolean> {
    testRunId = await repeatLostWrite(() =>
      inTransaction(db, async (tx) => {
        const now = await requireLockedFlow(tx, caller, flow);
        return onceFor(caller.keyed, tx, () => storeTests(tx, now));
      }),
    );
    // The tests are stored: if the workflow does not start now, the reconciler starts it.
    return startTestRun(deps, testRunId).then(
      () => true,
      (error: unknown) => {
        logEngineFailure(error, { test_run_id: testRunId }, 'A test run could not be started yet.');
        return false;
      },
    );
  }

  async function storeTests(tx: Tx, now: VisibleFlow): Promise<string> {
    const flowVersionId = typeof tested === 'string' ? tested : await snapshotDraft(tx, flowId, tested);
    const testRun = { id: testRunId, flowId, flowVersionId, startedBy: caller.author.actor, tests };
    if (!(await insertTestRun(tx, testRun).catch(refuse))) return testRunId;
    // An operator may suspend the organization while the request is queued.
    requireMayRun(now);
    // Its cases are runs in flight too. Once it is accepted, none of them is rejected.
    await requireQuotaOfTests(tx, { testRunId, organizationId, most }).catch(refuse);
    const change = { organizationId, action: 'test_run.start', resourceId: testRunId };
    await recordChange(tx, caller.author, { ...change, details: { flow_id: flowId } });
    return testRunId;
  }
}

/** Waits until the test run has ended; the result is in its rows. Gives up when `over` aborts. */
async function waitForTestRun({ client }: ApiDeps, testRunId: string, over: AbortSignal): Promise<void> {
  if (over.aborted) return;
  await Promise.race([untilClosed(client, testRunId, over), once(over, 'abort')]).catch(() => undefined);
}

function refuse(error: unknown): never {
  throw toRetryLater(error);
}
