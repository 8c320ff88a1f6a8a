// `weir flow publish` turns a draft into a version; `weir flow promote` makes a version the production version.
import { ServiceError } from '../../flow/errors.ts';
import { callApi } from '../api/call-api.ts';
import type { Flow } from '../api/get-resource.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print.ts';
import {
  type ExistingFlow,
  getFlows,
  nameUnfinished,
  requireExisting,
  requireFinished,
} from './flow-arguments.ts';
import { describeChanges, type FlowContent, findFlowChanges, isSameFlow } from './flow-content.ts';
import { formatNotes, readDraft, readSide, urlOf, type Version } from './service-flow.ts';

/**
 * Publishes each draft that its latest version does not hold. The draft of a file is published as that file has it.
 * `isPushed`: the push has shown the notes.
 */
export async function publish(
  names: string[],
  { project, note, isPushed = false }: { project?: string | undefined; note: string; isPushed?: boolean },
): Promise<CommandResult> {
  const flows = (await getFlows(names, project)).map(requireExisting);
  requireFinished(flows);
  const drafts = [];
  for (const named of flows) {
    const draft = await readDraft(named.flow);
    requireSame(named, 'draft', draft.content);
    drafts.push({ ...named, ...draft });
  }
  const published = [];
  for (const named of drafts) {
    const { path, flow, etag, content } = named;
    const { latestVersion: latest } = flow;
    const isNew = latest === null || !isSameFlow(content, await readSide(flow, latest));
    const { version, notes = [] } = isNew
      ? await publishDraft(flow, note, etag).catch(nameUnfinished(named))
      : { version: latest };
    published.push({ flow: path, version, published: isNew, ...(!isPushed && { notes }) });
  }
  const text = published.flatMap(({ flow, version, published, notes }) => [
    published ? `Published version ${version} of ${flow}.` : `${flow} is published as version ${version}.`,
    ...formatNotes(notes ?? []),
  ]);
  return { json: published, text: text.join('\n') };
}

function publishDraft(flow: Flow, note: string, etag: string): Promise<Version> {
  const request = { body: { note }, headers: { 'if-match': etag } };
  return callApi<Version>('POST', `${urlOf(flow)}/versions`, request);
}

/** Makes a version of a flow the production version: the given one of a path, the latest one of each file. */
export async function promote(
  names: string[],
  { project, version }: { project?: string | undefined; version?: number },
): Promise<CommandResult> {
  const flows = (await getFlows(names, project, '--version')).map(requireExisting);
  const chosen = [];
  for (const named of flows) chosen.push({ ...named, version: await chooseVersion(named, version) });
  const promoted = [];
  for (const { path, flow, version } of chosen) {
    const body = { version };
    const { previousVersion } = await callApi<{ previousVersion: number | null }>(
      'PUT',
      `${urlOf(flow)}/production`,
      { body },
    );
    promoted.push({ flow: path, version, previousVersion });
  }
  const text = promoted.map(({ flow, version, previousVersion }) => {
    if (previousVersion === version) return `Version ${version} of ${flow} is in production.`;
    const before = previousVersion === null ? '' : ` Before, it was version ${previousVersion}.`;
    return `Version ${version} of ${flow} is now in production.${before}`;
  });
  return { json: promoted, text: text.join('\n') };
}

async function chooseVersion(named: ExistingFlow, version: number | undefined): Promise<number> {
  const { path, local, flow } = named;
  if (local && version !== undefined)
    throw new UsageError('--version is of one flow: give its path, org/project/flow, instead of a file.');
  if (version !== undefined) return version;
  if (!local) throw new UsageError(`Say with --version which version of ${path} is to be in production.`);
  if (flow.latestVersion === null)
    throw new ServiceError('CONFLICT', `${path} has no version: publish it first with weir flow publish.`);
  requireSame(named, `version ${flow.latestVersion}`, await readSide(flow, flow.latestVersion));
  return flow.latestVersion;
}

/** Throws CONFLICT if the file exists and its steps differ from the steps in the service. */
function requireSame({ path, local, flow }: ExistingFlow, side: string, content: FlowContent): void {
  if (!local || isSameFlow(local.flow, content)) return;
  const changes = describeChanges(findFlowChanges(content, local.flow));
  throw new ServiceError(
    'CONFLICT',
    `The ${side} of ${path} is not what ${local.file} says, so nothing was done with ${flow.slug}. From it to the file:\n${changes}\nPush the file first, or pull the other edit.`,
  );
}
