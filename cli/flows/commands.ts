// The commands `weir flow …`, over HTTP with the caller's credential. docs/flow-file.md says what push and pull compare,
// and when they refuse.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseName, parseSlug, parseVersionNumber } from '../terminal/parse-argument.ts';
import { parsePath } from '../terminal/parse-path.ts';
import { type CommandResult, printed } from '../terminal/print-result.ts';
import { compare } from './compare.ts';
import { addFlowArguments, projectOption } from './flow-arguments.ts';
import { create, list, remove, rename, versions } from './manage.ts';
import { type PullOptions, pull } from './pull.ts';
import { pullProject } from './pull-project.ts';
import { pushToProduction } from './push-to-production.ts';
import { promote, publish } from './release.ts';

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
