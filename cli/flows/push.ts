// `weir flow push`: makes drafts, names and test cases equal to files. A draft that was edited elsewhere meanwhile is not
// replaced.
import type { FileProblem } from '../../api/flows/file-problems.ts';
import { flowETag } from '../../api/flows/flow-etag.ts';
import { formatFlowFile } from '../../api/flows/flow-file.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Change } from '../../flow/find-changes.ts';
import { callApi } from '../api/call-api.ts';
import type { Flow } from '../api/get-resource.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print.ts';
import { getFlowsOfFiles, requireFinished } from './flow-arguments.ts';
import { describeChanges, findFlowChanges } from './flow-content.ts';
import { formatOf, formatTestCases, testCasesFile } from './flow-files.ts';
import { isShallow, remember } from './past-texts.ts';
import { type PushPlan, placeOf, planPush } from './push-plan.ts';
import { promote, publish } from './release.ts';
import { type Draft, flowsUrl, formatNotes, readSide, replaceDraft, urlOf } from './service-flow.ts';

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

/** The production version of a flow, and the changes of its steps to those of the file. */
type Production = { version: number; changes: Change[] };

/** Compares files with drafts and with production. A flow without a production version is not in production yet. */
async function reportCheck(plans: PushPlan[]): Promise<CommandResult> {
  const checked: { plan: PushPlan; production: Production | null }[] = [];
  for (const plan of plans) checked.push({ plan, production: await readProduction(plan) });
  const isOther = ({ plan, production }: (typeof checked)[number]) =>
    differs(plan) || (production !== null && production.changes.length > 0);
  if (checked.some(isOther)) process.exitCode = 1;
  return {
    json: checked.map((one) => ({
      ...toJson(one.plan, one.plan.draft),
      production: one.production,
      differs: isOther(one),
    })),
    text: checked
      .flatMap(({ plan, production }) => [
        describeDifference(plan),
        ...(plan.flow ? [describeProduction(plan, production)] : []),
        ...notesOf(plan, plan.draft),
      ])
      .join('\n'),
  };
}

async function readProduction({ flow, local }: PushPlan): Promise<Production | null> {
  const version = flow?.productionVersion ?? null;
  if (!flow || version === null) return null;
  const { steps } = await readSide(flow, version);
  // Versions have no name and description of their own.
  return { version, changes: findFlowChanges({ ...local.flow, steps }, local.flow) };
}

function describeProduction({ local }: PushPlan, production: Production | null): string {
  if (!production) return '  In production: no version.';
  const { version, changes } = production;
  if (changes.length === 0) return `  In production: version ${version}, as the file says.`;
  return `  In production: version ${version}, which differs. From it to ${local.file}:\n${describeChanges(changes)}`;
}

function describeDifference(plan: PushPlan): string {
  const { path, local, flow } = plan;
  if (!flow) return `${path} does not exist; ${local.file} would create it.`;
  if (!differs(plan)) return `The draft of ${path} is as ${local.file} says.`;
  return `The draft of ${path} differs from ${local.file}, which would change:\n${listChanges(plan)}`;
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
    : plan.draft;
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
    json: { ...toJson(plan, draft), created: !plan.flow },
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

function notesOf(plan: PushPlan, draft?: Draft): string[] {
  const missing = problemsOf(plan, draft).map(
    ({ path, message, line }) =>
      `  to do before it can be published: ${line ? `line ${line}: ` : ''}${path}: ${message}`,
  );
  return [...missing, ...formatNotes(draft?.notes ?? plan.local.notes)];
}

/** Lists what keeps the file from being published. Only the service knows its models. */
function problemsOf({ local: { missing } }: PushPlan, draft?: Draft): FileProblem[] {
  const found = draft?.problems.filter(({ path }) => missing.every((one) => one.path !== path)) ?? [];
  return [...missing, ...found];
}

function toJson(plan: PushPlan, draft?: Draft) {
  const { path, local, changes, testChanges } = plan;
  const notes = draft?.notes ?? local.notes;
  return { flow: path, file: local.file, changes, testChanges, problems: problemsOf(plan, draft), notes };
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
    await publish(sources, { project, note: note ?? '', isPushed: true }),
    await promote(sources, { project }),
  ];
  const [first, ...others] = results.map(({ json }) => json as object[]) as [object[], ...object[][]];
  return {
    json: first.map((flow, at) => Object.assign({}, flow, ...others.map((list) => list[at]))),
    text: results.map(({ text }) => text).join('\n'),
  };
}
