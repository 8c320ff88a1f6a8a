// `weir flow push`: makes drafts, names and test cases equal to files. A draft that was edited elsewhere meanwhile is not
// replaced.
import { flowETag } from '../../api/flows/flow-etag.ts';
import { formatFlowFile } from '../../api/flows/flow-file.ts';
import { ServiceError } from '../../flow/errors.ts';
import { callApi } from '../api/call-api.ts';
import type { Flow } from '../api/get-resource.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print.ts';
import { getFlowsOfFiles, requireFinished } from './flow-arguments.ts';
import { describeChanges } from './flow-content.ts';
import { formatOf, formatTestCases, testCasesFile } from './flow-files.ts';
import { isShallow, remember } from './past-texts.ts';
import { type PushPlan, placeOf, planPush } from './push-plan.ts';
import { promote, publish } from './release.ts';
import { type Draft, flowsUrl, replaceDraft, urlOf } from './service-flow.ts';

type Options = PushOptions & { note?: string };

export type PushOptions = {
  project?: string | undefined;
  check?: boolean;
  force?: boolean;
  /** Pushes only what can be published at once. */
  production?: boolean;
};

/**
 * Pushes files: all or, when one is refused, none. With `check`, nothing changes and the exit code is 1 when something
 * differs.
 */
export async function push(sources: string[], options: PushOptions): Promise<CommandResult> {
  const { projectId, flows } = await getFlowsOfFiles(sources, options.project);
  if (options.production) requireFinished(flows);
  const plans: PushPlan[] = [];
  for (const flow of flows) plans.push(await planPush(flow));
  if (options.check) return reportCheck(plans);
  if (!options.force) await requireKnown(plans);
  const pushed = [];
  for (const plan of plans) pushed.push(await apply(projectId, plan, options.force === true));
  return { json: pushed.map(({ json }) => json), text: pushed.map(({ text }) => text).join('\n') };
}

function reportCheck(plans: PushPlan[]): CommandResult {
  if (plans.some(differs)) process.exitCode = 1;
  const text = plans.flatMap((plan) => [describeDifference(plan), ...notesOf(plan)]);
  return { json: plans.map((plan) => ({ ...toJson(plan), differs: differs(plan) })), text: text.join('\n') };
}

function describeDifference(plan: PushPlan): string {
  const { path, local, flow } = plan;
  if (!flow) return `${path} does not exist; ${local.file} would create it.`;
  if (!differs(plan)) return `${path} is as ${local.file} says.`;
  return `${path} differs from ${local.file}, which would change:\n${listChanges(plan)}`;
}

function differs({ flow, changes, testChanges }: PushPlan): boolean {
  return !flow || changes.length > 0 || testChanges.length > 0;
}

function listChanges({ changes, testChanges }: PushPlan): string {
  return describeChanges([...changes, ...testChanges]);
}

async function requireKnown(plans: PushPlan[]): Promise<void> {
  const refused = plans.filter(({ unknown }) => unknown.length > 0);
  if (refused.length === 0) return;
  const lines = refused.map((plan) => {
    const places = plan.unknown
      .map((part) => (part === 'flow' ? 'its draft' : 'its test cases'))
      .join(' and ');
    return `${plan.path} has edits in ${places} that ${plan.local.file} never held. A push would change:\n${listChanges(plan)}`;
  });
  const [{ path, local }] = refused as [PushPlan];
  if (await isShallow(local.file))
    lines.push('This checkout has only the latest commits: fetch all (fetch-depth: 0 in GitHub Actions).');
  lines.push(
    'Nothing was pushed. Commit your file, and take the edits into it with',
    `  weir flow pull ${path} ${local.file}`,
    'Then join the two. --force pushes at once, and drops the edits.',
  );
  throw new ServiceError('CONFLICT', lines.join('\n'));
}

async function apply(projectId: string, plan: PushPlan, force: boolean): Promise<CommandResult> {
  const { path, local, changes, testChanges } = plan;
  const { name, slug, description = '' } = local.flow;
  const flow =
    plan.flow ?? (await callApi<Flow>('POST', flowsUrl(projectId), { body: { name, slug, description } }));
  const draft = changes.some(({ step_id, field }) => step_id !== null || field === 'steps')
    ? await replaceDraft(flow, local.flow.steps, force ? '*' : plan.etag).catch(edited(plan))
    : undefined;
  if (flow.name !== name || flow.description !== description)
    await callApi('PUT', urlOf(flow), {
      body: { name, description },
      headers: { 'if-match': force ? '*' : flowETag(flow) },
    }).catch(edited(plan));
  await pushTestCases(flow, plan, force).catch(edited(plan));
  await remember(local.file, placeOf(path), formatFlowFile(local.flow, formatOf(local.file)));
  if (local.tests) await remember(testCasesFile(local.file), placeOf(path), formatTestCases(local.tests));
  const done = !plan.flow ? 'Created' : changes.length + testChanges.length > 0 ? 'Changed' : 'Unchanged:';
  const text = [
    `${done} ${path} (${local.file}).`,
    ...(plan.flow ? [listChanges(plan)] : []),
    ...notesOf(plan, draft),
  ];
  return {
    json: { ...toJson(plan), created: !plan.flow, notes: draft?.notes ?? [] },
    text: text.filter(Boolean).join('\n'),
  };
}

/** Turns the refusal of what was edited, or deleted, since it was compared into words for who pushes. */
function edited({ path }: PushPlan) {
  return (error: unknown): never => {
    const isEdited =
      error instanceof ServiceError && ['PRECONDITION_FAILED', 'NOT_FOUND'].includes(error.code);
    if (!isEdited) throw error;
    throw new ServiceError(
      'CONFLICT',
      `${path} was edited by somebody else at this moment, so that the push ended there. Push again: the edit will be shown.`,
    );
  };
}

function notesOf({ local }: PushPlan, draft?: Draft): string[] {
  const missing = local.missing.map(
    ({ path, message, line }) => `  to do before it can be published: line ${line}: ${path}: ${message}`,
  );
  return [...missing, ...(draft?.notes ?? []).map((note) => `  note: ${note}`)];
}

function toJson({ path, local, changes, testChanges }: PushPlan) {
  return { flow: path, file: local.file, changes, testChanges, problems: local.missing };
}

/**
 * Creates, replaces and deletes test cases to match the file. Unless `force`, throws PRECONDITION_FAILED or NOT_FOUND if a
 * case has changed since the comparison.
 */
export async function pushTestCases(
  flow: Flow,
  { local, tests, testChanges }: PushPlan,
  force: boolean,
): Promise<void> {
  if (!local.tests || testChanges.length === 0) return;
  const url = `${urlOf(flow)}/test-cases`;
  const changed = new Set(testChanges.map(({ from, to }) => ((to ?? from) as { name: string }).name));
  for (const body of local.tests.filter(({ name }) => changed.has(name))) {
    const saved = tests.find(({ name }) => name === body.name);
    if (force) await callApi('POST', url, { body });
    else if (!saved) await callApi('POST', url, { body, headers: { 'if-none-match': '*' } });
    else await callApi('PUT', `${url}/${saved.test_case_id}`, { body, headers: { 'if-match': saved.etag } });
  }
  const kept = new Set(local.tests.map(({ name }) => name));
  for (const { test_case_id, name, etag } of tests)
    if (!kept.has(name))
      await callApi('DELETE', `${url}/${test_case_id}`, { headers: { 'if-match': force ? '*' : etag } });
}

/** Pushes files and, with `production`, publishes and promotes what was pushed. */
export async function pushToProduction(
  sources: string[],
  { note, ...options }: Options,
): Promise<CommandResult> {
  const { project, production } = options;
  if (note !== undefined && !production)
    throw new UsageError('--note describes a version: give --production too.');
  const pushed = await push(sources, options);
  if (!production) return pushed;
  const results = [
    pushed,
    await publish(sources, { project, note: note ?? '' }),
    await promote(sources, { project }),
  ];
  const [first, ...others] = results.map(({ json }) => json as object[]) as [object[], ...object[][]];
  return {
    json: first.map((flow, at) => Object.assign({}, flow, ...others.map((list) => list[at]))),
    text: results.map(({ text }) => text).join('\n'),
  };
}
