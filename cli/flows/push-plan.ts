// What `weir flow push` would do to a flow, and whether it may.
import { draftETag } from '../../api/flows/flow-etag.ts';
import { parseDraftFile } from '../../api/flows/flow-file.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Change } from '../../flow/find-changes.ts';
import type { Flow } from '../api/get-resource.ts';
import { serviceUrl } from '../api/service-url.ts';
import type { NamedFlow } from './flow-arguments.ts';
import {
  describeChanges,
  type FlowContent,
  findFlowChanges,
  findTestChanges,
  isSameFlow,
  isSameTests,
  type TestCase,
} from './flow-content.ts';
import { formatOf, type LocalFlow, parseTestCases, testCasesFile } from './flow-files.ts';
import { pastTexts } from './past-texts.ts';
import { type Draft, readDraft, readTestCases, type SavedTestCase } from './service-flow.ts';

export type PushPlan = {
  path: string;
  local: LocalFlow;
  /** Absent when the flow is to be created. */
  flow?: Flow;
  /** Names the draft that the plan is about. */
  etag: string;
  /** The draft, if the file says the same. */
  draft?: Draft;
  /** From the service to the file. */
  changes: Change[];
  testChanges: Change[];
  /** The test cases in the service; [] without a file of test cases. */
  tests: SavedTestCase[];
  /** The parts that differ on the service and that the file never held. */
  unknown: ('flow' | 'tests')[];
};

/** Compares a file with its flow. What the service has is unknown when the file never held it, so that it would be lost. */
export async function planPush({ path, flow, local }: NamedFlow & { local: LocalFlow }): Promise<PushPlan> {
  if (!flow) {
    const empty = { ...local.flow, steps: [] };
    const testChanges = findTestChanges([], local.tests ?? []);
    const changes = findFlowChanges(empty, local.flow);
    return { path, local, etag: draftETag({ steps: [] }), changes, testChanges, tests: [], unknown: [] };
  }
  const { draft, content, etag } = await readDraft(flow);
  const tests = local.tests ? await readTestCases(flow) : [];
  const changes = findFlowChanges(content, local.flow);
  const testChanges = findTestChanges(tests, local.tests ?? tests);
  const unknown: PushPlan['unknown'] = [];
  if (changes.length > 0 && !(await hasHeldFlow(local.file, path, content))) unknown.push('flow');
  if (testChanges.length > 0 && !(await hasHeldTests(local.file, path, tests))) unknown.push('tests');
  const same = changes.length === 0 && { draft };
  return { path, local, flow, etag, ...same, changes, testChanges, tests, unknown };
}

/**
 * Returns the plan of a file that a push would leave unchanged. Throws CONFLICT when the draft, or a test case, is not as the
 * file says; `done` says what was therefore not done.
 */
export async function requirePushed(
  named: NamedFlow & { local: LocalFlow },
  done: 'tested' | 'run',
): Promise<PushPlan> {
  const plan = await planPush(named);
  const changes = [...plan.changes, ...plan.testChanges];
  if (changes.length === 0) return plan;
  throw new ServiceError(
    'CONFLICT',
    `${named.path} is not as ${named.local.file} says, so nothing was ${done}. Push the file first; it would change:\n${describeChanges(changes)}`,
  );
}

/** Tells whether a flow file is or was the same as `content`. A draft without steps holds nothing that could be lost. */
export async function hasHeldFlow(file: string, path: string, content: FlowContent): Promise<boolean> {
  if (content.steps.length === 0) return true;
  return hasHeld(file, path, (text) => isSameFlow(parseDraftFile(text, formatOf(file)).file, content));
}

export async function hasHeldTests(file: string, path: string, tests: TestCase[]): Promise<boolean> {
  if (tests.length === 0) return true;
  return hasHeld(testCasesFile(file), path, (text) => isSameTests(parseTestCases(text), tests));
}

async function hasHeld(file: string, path: string, isIt: (text: string) => boolean): Promise<boolean> {
  for await (const text of pastTexts(file, placeOf(path)))
    try {
      if (isIt(text)) return true;
    } catch (error) {
      // An invalid earlier text was never pushed.
      if (!(error instanceof ServiceError)) throw error;
    }
  return false;
}

/** Names a flow among those of all services. */
export function placeOf(path: string): string {
  return `${serviceUrl()}/${path}`;
}
