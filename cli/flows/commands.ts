// The commands `weir flow …`, over HTTP with the caller's credential. docs/flow-file.md says what push and pull compare,
// and when they refuse.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ServiceError } from '../../flow/errors.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { type Flow, getFlow, getProject } from '../api/get-resource.ts';
import { requireConfirmation } from '../terminal/deletion.ts';
import {
  parseName,
  parsePath,
  parseSlug,
  parseVersionNumber,
  splitPath,
  UsageError,
} from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed } from '../terminal/print.ts';
import { addFlowArguments, getFlows, type NamedFlow, projectOption } from './flow-arguments.ts';
import { describeChanges, findFlowChanges } from './flow-content.ts';
import { type PullOptions, pull, pullProject } from './pull.ts';
import { pushToProduction } from './push.ts';
import { planPush } from './push-plan.ts';
import { promote, publish } from './release.ts';
import { flowsUrl, readSide, urlOf, type Version } from './service-flow.ts';

type Side = number | 'draft';

type CompareOptions = { project?: string; from?: Side; to?: Side };

const FLOW = ['<org/project/flow>', 'path of the flow', parsePath('org/project/flow')] as const;
const PATHS_OR_FILES = 'paths of flows (org/project/flow), flow files, or folders of them';

export function addFlowCommands(program: Command): void {
  const flow = program.command('flow').description('write, compare, publish and roll back flows');
  addFileCommands(flow);
  addReleaseCommands(flow);
  addManagementCommands(flow);
}

function addFileCommands(flow: Command): void {
  flow
    .command('pull')
    .description('write the draft of a flow into a file, and its test cases beside it')
    .argument('<path>', 'path of a flow (org/project/flow), or of a project (org/project)', parsePullPath)
    .argument(
      '[file]',
      'file to write, JSON if its name ends in .json; - prints (default: <slug>.yaml); of a project, the folder',
    )
    .option('--version <number>', 'version to write instead of the draft', parseVersionNumber)
    .option('--force', 'replace a file that has edits neither pushed nor committed')
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow pull acme/main/hello flows/hello.yaml\n  weir flow pull acme/main flows/',
    )
    .action(printed(pullPath));
  flow
    .command('push')
    .description(
      'replace drafts with the contents of files; fails if somebody else has edited a draft meanwhile',
    )
    .argument('<file...>', 'flow files (docs/flow-file.md), or folders of them')
    .addOption(projectOption())
    .addOption(
      new Option('--check', 'change nothing: print what differs, and exit with 1 if anything does').conflicts(
        ['production', 'force'],
      ),
    )
    .option('--force', 'replace drafts even if somebody else has edited them')
    .option('--production', 'then publish the drafts and promote the versions')
    .option('--note <text>', 'what changed in the versions, with --production')
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow push hello.yaml --project acme/main\n  WEIR_PROJECT=acme/main weir flow push --check flows/',
    )
    .action(printed(pushToProduction));
  addFlowArguments(flow.command('diff'), PATHS_OR_FILES)
    .description('print what a file would change in its draft, or what changed between versions')
    .option(
      '--from <version>',
      'version to compare with, or draft (default: the production version)',
      parseSide,
    )
    .option('--to <version>', 'version, or draft (default: draft)', parseSide)
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow diff flows/ --project acme/main\n  weir flow diff acme/main/hello --from 2 --to 3',
    )
    .action(printed(compare));
}

function addReleaseCommands(flow: Command): void {
  addFlowArguments(flow.command('publish'), PATHS_OR_FILES)
    .description(
      'publish drafts as versions, which never change; a file is published only if its draft equals it',
    )
    .requiredOption('--note <text>', 'what changed in the version')
    .addHelpText('after', '\nExample:\n  weir flow publish acme/main/hello --note "Shorter answers"')
    .action(printed(publish));
  addFlowArguments(flow.command('promote'), PATHS_OR_FILES)
    .description('choose the version that callers run; an earlier one rolls back')
    .option(
      '--version <number>',
      'version of the flow (default for a file: the latest version, if it equals the file)',
      parseVersionNumber,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow promote acme/main/hello --version 3\n  weir flow promote flows/ --project acme/main',
    )
    .action(printed(promote));
}

function addManagementCommands(flow: Command): void {
  flow
    .command('list')
    .description('list the flows of a project')
    .argument('<org/project>', 'path of the project', parsePath('org/project'))
    .addHelpText('after', '\nExample:\n  weir flow list acme/main')
    .action(printed(list));
  flow
    .command('versions')
    .description('list the versions of a flow, newest first')
    .argument(...FLOW)
    .addHelpText('after', '\nExample:\n  weir flow versions acme/main/hello')
    .action(printed(versions));
  flow
    .command('create')
    .description('create a flow with an empty draft')
    .argument('<org/project/flow>', 'path of the project, and a slug for the new flow', parseNewFlowPath)
    .requiredOption('--name <name>', 'name of the flow', parseName)
    .option('--description <text>', 'what the flow is for')
    .addHelpText('after', '\nExample:\n  weir flow create acme/main/hello --name Hello')
    .action(printed(create));
  flow
    .command('rename')
    .description('change the name or the description of a flow; its slug stays')
    .argument(...FLOW)
    .option('--name <name>', 'name of the flow', parseName)
    .option('--description <text>', 'what the flow is for')
    .addHelpText('after', '\nExample:\n  weir flow rename acme/main/hello --name "Hello, world"')
    .action(printed(rename));
  flow
    .command('delete')
    .description('delete a flow; new runs are refused, runs under way continue')
    .argument(...FLOW)
    .requiredOption('--confirm <slug>', 'repeat the slug of the flow: deletion cannot be undone')
    .addHelpText('after', '\nExample:\n  weir flow delete acme/main/hello --confirm hello')
    .action(printed(remove));
}

function parseNewFlowPath(text: string): string {
  const path = parsePath('org/project/flow')(text);
  parseSlug(path.slice(path.lastIndexOf('/') + 1));
  return path;
}

function parsePullPath(text: string): string {
  return parsePath(isProject(text) ? 'org/project' : 'org/project/flow')(text);
}

function pullPath(path: string, target: string | undefined, options: PullOptions): Promise<CommandResult> {
  return isProject(path) ? pullProject(path, target, options) : pull(path, target, options);
}

function isProject(path: string): boolean {
  return path.split('/').length === 2;
}

function parseSide(text: string): number | 'draft' {
  if (text === 'draft') return text;
  if (/^[1-9]\d*$/.test(text)) return parseVersionNumber(text);
  throw new InvalidArgumentError('Give the number of a version, or draft.');
}

// `weir flow list`, `versions`, `create`, `rename` and `delete`.

async function list(path: string): Promise<CommandResult> {
  const flows = await listAll<Flow>(flowsUrl((await getProject(path)).id), 'flows');
  return {
    json: flows,
    text: formatTable(
      ['slug', 'name', 'draft', 'latest', 'production', 'updated'],
      flows.map((flow) => [
        flow.slug,
        flow.name,
        flow.draftIsPublished ? 'published' : 'unpublished',
        flow.latestVersion,
        flow.productionVersion,
        formatTime(flow.updatedAt),
      ]),
      'The project has no flows. Create one with: weir flow push <file> --project <org/project>',
    ),
  };
}

async function versions(path: string): Promise<CommandResult> {
  const rows = await listAll<Version>(`${urlOf(await getFlow(path))}/versions`, 'versions');
  return {
    json: rows,
    text: formatTable(
      ['version', 'published', 'production', 'note'],
      rows.map((row) => [row.version, formatTime(row.publishedAt), row.isProduction ? 'yes' : '', row.note]),
      'No version is published. Publish one with: weir flow publish <org/project/flow> --note <text>',
    ),
  };
}

async function create(
  path: string,
  { name, description }: { name: string; description?: string },
): Promise<CommandResult> {
  const [organization, project, slug] = splitPath(path, 'org/project/flow');
  const { id } = await getProject(`${organization}/${project}`);
  const body = { name, slug, ...(description !== undefined && { description }) };
  const flow = await callApi<Flow>('POST', flowsUrl(id), { body });
  return { json: flow, text: `Created ${path}, with an empty draft.` };
}

async function rename(
  path: string,
  { name, description }: { name?: string; description?: string },
): Promise<CommandResult> {
  if (name === undefined && description === undefined) throw new UsageError('Give --name or --description.');
  const body = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
  const flow = await callApi<Flow>('PUT', urlOf(await getFlow(path)), { body });
  return { json: flow, text: `${path} is now named ${JSON.stringify(flow.name)}.` };
}

async function remove(path: string, { confirm }: { confirm: string }): Promise<CommandResult> {
  requireConfirmation(splitPath(path, 'org/project/flow')[2] ?? '', confirm);
  const flow = await getFlow(path);
  await callApi('DELETE', urlOf(flow));
  return { json: { flow: path, id: flow.id }, text: `Deleted ${path}.` };
}

// `weir flow diff`: what a file would change, or what changed from one version to another.

/** Compares the draft of each flow with its file, or for a path two versions of the flow. */
async function compare(names: string[], options: CompareOptions): Promise<CommandResult> {
  const results = [];
  for (const named of await getFlows(names, options.project, '--from'))
    results.push(await compareOne(named, options));
  const text = results.map(({ path, from, to, changes }) =>
    changes.length === 0
      ? `${path}: no difference from ${from} to ${to}.`
      : `${path}, from ${from} to ${to}:\n${describeChanges(changes)}`,
  );
  return { json: results.map(({ path, ...result }) => ({ flow: path, ...result })), text: text.join('\n') };
}

async function compareOne({ path, flow, local }: NamedFlow, options: CompareOptions) {
  if (local) {
    if (options.from !== undefined || options.to !== undefined)
      throw new UsageError('--from and --to compare versions of a flow: give its path, org/project/flow.');
    const { changes, testChanges } = await planPush({ path, local, ...(flow && { flow }) });
    return { path, from: 'draft', to: local.file, changes: [...changes, ...testChanges] };
  }
  if (!flow) throw new ServiceError('NOT_FOUND', `There is no flow ${path}.`);
  const from = options.from ?? flow.productionVersion;
  const to = options.to ?? 'draft';
  if (from === null)
    throw new UsageError(`${path} has no production version: say with --from what to compare with.`);
  const changes = findFlowChanges(await readSide(flow, from), await readSide(flow, to));
  return { path, from: nameOf(from), to: nameOf(to), changes };
}

function nameOf(side: Side): string {
  return side === 'draft' ? 'draft' : `version ${side}`;
}
