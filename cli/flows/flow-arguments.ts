// Arguments that name flows: paths such as acme/main/hello, flow files, and folders of them.
import { stat } from 'node:fs/promises';
import { describeFileProblems } from '../../api/flows/file-problems.ts';
import { ServiceError } from '../../flow/errors.ts';
import { listAll } from '../api/call-api.ts';
import { type Flow, getFlow, getProject } from '../api/get-resource.ts';
import { Refusal } from '../api/to-error.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import type { LocalFlow } from './flow-files.ts';
import { flowsUrl } from './service-flow.ts';

/** A flow that a command is about. `flow` is absent when the service has none of that path, `local` for a path. */
export type NamedFlow = { path: string; flow?: Flow; local?: LocalFlow };

export type ExistingFlow = NamedFlow & { flow: Flow };

/** Tells whether an argument is the path of a flow: three slugs. Whatever else is a file or a folder. */
function isFlowPath(text: string): boolean {
  return /^[a-z0-9-]+\/[a-z0-9-]+\/[a-z0-9-]+$/.test(text);
}

/**
 * Finds the flows named by the arguments, and reads flow files. Throws NOT_FOUND for unknown paths, and UsageError for
 * an argument that is neither a path nor a file or folder; where it is a number, that hints at the command's `versionOption`.
 */
export async function getFlows(
  names: string[],
  project: string | undefined,
  versionOption?: '--version' | '--from',
): Promise<NamedFlow[]> {
  const paths = names.filter(isFlowPath);
  const sources = names.filter((name) => !isFlowPath(name));
  for (const source of sources) await requireThere(source, versionOption);
  const found: NamedFlow[] = [];
  for (const path of paths) found.push({ path, flow: await getFlow(path) });
  return sources.length === 0 ? found : [...found, ...(await getFlowsOfFiles(sources, project)).flows];
}

async function requireThere(source: string, versionOption: string | undefined): Promise<void> {
  if (source === '-' || (await stat(source).catch(() => undefined))) return;
  const hint =
    versionOption && /^\d+$/.test(source) ? ` A version is given as ${versionOption} ${source}.` : '';
  throw new UsageError(
    `${source} is neither the path of a flow (org/project/flow) nor a file or folder that exists.${hint}`,
  );
}

/** Reads flow files and finds their flows in a project. */
export async function getFlowsOfFiles(
  sources: string[],
  project: string | undefined,
): Promise<{ projectId: string; flows: (NamedFlow & { local: LocalFlow })[] }> {
  const { readFlowFiles } = await import('./flow-files.ts');
  const locals = await readFlowFiles(sources);
  const path = requireProject(project);
  const { id } = await getProject(path);
  const flows = await listAll<Flow>(flowsUrl(id), 'flows');
  const named = locals.map((local) => {
    const flow = flows.find(({ slug }) => slug === local.flow.slug);
    return { path: `${path}/${local.flow.slug}`, local, ...(flow && { flow }) };
  });
  return { projectId: id, flows: named };
}

function requireProject(project: string | undefined): string {
  if (project !== undefined) return project;
  throw new UsageError('Give --project, or set WEIR_PROJECT to org/project: a file names only the flow.');
}

/** Throws NOT_FOUND for a file whose flow does not exist yet. */
export function requireExisting(named: NamedFlow): ExistingFlow {
  const { flow, path, local } = named;
  if (flow) return { ...named, flow };
  throw new ServiceError(
    'NOT_FOUND',
    `${path} does not exist: create it with weir flow push ${local?.file}.`,
  );
}

// An unfinished flow may be pushed, but neither published nor tested.

/** Throws INVALID_TREE if files are incomplete, with the problems of all files by line. */
export function requireFinished(flows: NamedFlow[]): void {
  const problems = flows.flatMap(({ path, local }) =>
    local && local.missing.length > 0
      ? [describe(path, local.file, describeFileProblems('INVALID_TREE', local.missing).message)]
      : [],
  );
  if (problems.length > 0) throw new ServiceError('INVALID_TREE', problems.join('\n'));
}

/** Makes the service's refusal of an unfinished draft name the flow, and what its file lacks by line. */
export function nameUnfinished(named: NamedFlow) {
  return (error: unknown): never => {
    if (!(error instanceof Refusal) || error.code !== 'INVALID_TREE') throw error;
    requireFinished([named]);
    const of = (problems: string) => describe(named.path, named.local?.file, problems);
    throw new Refusal(of(error.message), { ...error.detail, message: of(error.detail.message) });
  };
}

function describe(path: string, file: string | undefined, problems: string): string {
  return `${path} is not finished${file === undefined ? '' : ` (${file})`}, and can be neither published nor tested:\n${problems}`;
}
