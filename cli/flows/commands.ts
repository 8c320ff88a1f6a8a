// The commands `weir flow …`, `weir test` and `weir test-runs …`, over HTTP with the caller's credential. docs/flow-file.md says
// what push and pull compare, and when they refuse.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { callApi, listAll } from '../api/call-api.ts';
import { type Flow, getFlow, getProject } from '../api/get-resource.ts';
import { requireConfirmation } from '../terminal/deletion.ts';
import {
  parseName,
  parsePath,
  parseSlug,
  parseVersionNumber,
  parseVersionOr,
  parseWholeNumber,
  splitPath,
  UsageError,
} from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed, printedBy } from '../terminal/print.ts';
import { addFlowArguments, projectOption } from './flow-options.ts';
import { flowsUrl, urlOf, type Version } from './service-flow.ts';
import type { TestedVersion } from './test-flows.ts';

const FLOW = ['<org/project/flow>', 'path of the flow', parsePath('org/project/flow')] as const;
/** Flows that weir test tests at a time. */
const FLOWS_AT_ONCE = 8;
const FLOWS_AT_ONCE_MAX = 50;
const PATHS_OR_FILES = 'paths of flows (org/project/flow), flow files, or folders of them';

export function addFlowCommands(program: Command): void {
  const flow = program.command('flow').description('write, compare, publish and roll back flows');
  addFileCommands(flow);
  addReleaseCommands(flow);
  addManagementCommands(flow);
}

export function addTestCommand(program: Command): void {
  const command = program
    .command('test')
    .description(
      'run the test cases of flows and show the results; exit with 1 if a case fails or there is none',
    );
  addFlowArguments(command, 'paths of flows; or flow files and folders, whose drafts must equal the files')
    .option(
      '--concurrency <number>',
      'how many flows to test at a time, each with up to 8 cases at a time',
      parseWholeNumber(1, FLOWS_AT_ONCE_MAX),
      FLOWS_AT_ONCE,
    )
    .option(
      '--version <version>',
      'what to test: draft, production or a version',
      parseTestedVersion,
      'draft',
    )
    .option('--junit <file>', 'write the results into a file, as JUnit XML')
    .addHelpText('after', '\nExample:\n  weir test flows/ --project acme/main --junit results.xml')
    .action(printedBy(async () => (await import('./test-flows.ts')).testFlows));
}

function parseTestedVersion(text: string): TestedVersion {
  if (text === 'draft' || text === 'production') return text;
  return parseVersionOr('draft or production', text);
}

export function addTestRunCommands(program: Command): void {
  const command = program.command('test-runs').description('list the test runs of a flow, and compare two');
  command
    .command('list')
    .description('list the newest test runs of a flow')
    .argument(...FLOW)
    .addHelpText('after', '\nExample:\n  weir test-runs list acme/main/hello')
    .action(printedBy(async () => (await import('./test-runs.ts')).listTestRuns));
  command
    .command('compare')
    .description('compare two test runs by test case; changed cases come first')
    .argument(...FLOW)
    .argument('[before]', 'test_run_id; by default the last but one')
    .argument('[after]', 'test_run_id; by default the last')
    .addHelpText('after', '\nExample:\n  weir test-runs compare acme/main/hello')
    .action(printedBy(async () => (await import('./test-runs.ts')).compareTestRuns));
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
    .action(printedBy(async () => (await import('./pull.ts')).pullPath));
  flow
    .command('push')
    .description(
      'replace drafts with the contents of files; fails if somebody else has edited a draft meanwhile',
    )
    .argument('<file...>', 'flow files (docs/flow-file.md), or folders of them')
    .addOption(projectOption())
    .addOption(
      new Option(
        '--check',
        'change nothing: print what differs in drafts and in production, and exit with 1 if anything does',
      ).conflicts(['production', 'force']),
    )
    .option('--force', 'replace drafts even if somebody else has edited them')
    .option('--production', 'then publish the drafts and promote the versions')
    .option('--note <text>', 'what changed in the versions, with --production')
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow push hello.yaml --project acme/main\n  WEIR_PROJECT=acme/main weir flow push --check flows/',
    )
    .action(printedBy(async () => (await import('./push.ts')).pushToProduction));
  flow
    .command('check')
    .description(
      'check flow files without a service: whether they can be pushed and published; exit with 1 if one cannot',
    )
    .argument('<file...>', 'flow files (docs/flow-file.md), or folders of them')
    .addHelpText('after', '\nExample:\n  weir flow check flows/')
    .action(printedBy(async () => (await import('./check.ts')).check));
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
    .action(printedBy(async () => (await import('./diff.ts')).compare));
}

function addReleaseCommands(flow: Command): void {
  addFlowArguments(flow.command('publish'), PATHS_OR_FILES)
    .description(
      'publish drafts as versions, which never change; a file is published only if its draft equals it',
    )
    .requiredOption('--note <text>', 'what changed in the version')
    .addHelpText('after', '\nExample:\n  weir flow publish acme/main/hello --note "Shorter answers"')
    .action(printedBy(async () => (await import('./release.ts')).publish));
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
    .action(printedBy(async () => (await import('./release.ts')).promote));
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
  return parsePath(text.split('/').length === 2 ? 'org/project' : 'org/project/flow')(text);
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
