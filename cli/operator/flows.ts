import { type Command, Option } from 'commander';
import { requireRunnable } from '../../api/flows/draft-problems.ts';
import { draftETag } from '../../api/flows/flow-etag.ts';
import { formatFlowFile } from '../../api/flows/flow-file.ts';
import type { ReadCode } from '../../api/flows/read-code-of.ts';
import { promoteFlow, publishFlow, removeFlow } from '../../api/flows/recorded-flow-writes.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { listFlows, lockFlowBySlug } from '../../db/flows/flows.ts';
import { getVersion, listVersions } from '../../db/flows/versions.ts';
import { ServiceError } from '../../flow/errors.ts';
import { readCode } from '../../platform/javascript/read-code.ts';
import { requireConfirmation } from '../terminal/deletion.ts';
import { parsePath, parseVersionNumber } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime } from '../terminal/print.ts';
import { importFlow, withValidator } from './import-flow.ts';
import { getFlow, getProject, onDatabase, operator } from './on-database.ts';

export function addFlowCommands(program: Command): void {
  const flow = program.command('flow').description('import, export, publish and delete flows');
  const flowArgument = ['<org/project/flow>', 'path of the flow', parsePath('org/project/flow')] as const;
  flow
    .command('import')
    .description('import a file as the draft of its flow; creates the flow if its slug is new')
    .argument(
      '<file>',
      'flow file (docs/flow-file.md): YAML, or JSON if the name ends in .json; - reads standard input',
    )
    .requiredOption('--project <org/project>', 'project of the flow', parsePath('org/project'))
    .option('--publish', 'publish the draft as a version')
    .option('--note <text>', 'what changed in the version, with --publish or --production')
    .option('--production', 'publish the draft, as --publish does, and make it the production version')
    .action(onDatabase(importFlow));
  flow
    .command('export')
    .description('print a flow as a file')
    .argument(...flowArgument)
    .option('--version <number>', 'published version to export (default: the draft)', parseVersionNumber)
    .addOption(
      new Option('--format <format>', 'format of the file').choices(['yaml', 'json']).default('yaml'),
    )
    .action(onDatabase(exportFlow));
  flow
    .command('list')
    .description('list the flows of a project')
    .argument('<org/project>', 'path of the project', parsePath('org/project'))
    .action(onDatabase(list));
  flow
    .command('versions')
    .description('list the published versions of a flow, newest first')
    .argument(...flowArgument)
    .action(onDatabase(versions));
  flow
    .command('publish')
    .description('publish the draft as a version, which never changes')
    .argument(...flowArgument)
    .requiredOption('--note <text>', 'what changed in the version')
    .action(onDatabase(publish));
  flow
    .command('promote')
    .description('choose the version that callers run; an earlier one rolls back')
    .argument(...flowArgument)
    .argument('<version>', 'number of the version', parseVersionNumber)
    .action(onDatabase(promote));
  flow
    .command('delete')
    .description('delete a flow; new runs are refused, runs under way continue')
    .argument(...flowArgument)
    .requiredOption('--confirm <slug>', 'repeat the slug of the flow: deletion cannot be undone')
    .action(onDatabase(remove));
}

async function exportFlow(
  db: Db,
  path: string,
  options: { version?: number; format: 'yaml' | 'json' },
): Promise<CommandResult> {
  const flow = await getFlow(db, path);
  const { version } = options;
  const { steps } = version === undefined ? flow.draft : (await getVersion(db, flow.id, version)).definition;
  const { name, slug, description } = flow;
  const file = { name, slug, ...(description !== '' && { description }), steps };
  return { json: file, text: formatFlowFile(file, options.format) };
}

async function list(db: Db, path: string): Promise<CommandResult> {
  const flows = (await listFlows(db, (await getProject(db, path)).id)).map((row) => ({
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    latestVersion: row.latest_version,
    productionVersion: row.production_version,
    updatedAt: row.updated_at,
  }));
  return {
    json: flows,
    text: formatTable(
      ['slug', 'name', 'latest', 'production', 'updated'],
      flows.map((flow) => [
        flow.slug,
        flow.name,
        flow.latestVersion,
        flow.productionVersion,
        formatTime(flow.updatedAt),
      ]),
      'The project has no flows. Import one with: weir operator flow import <file> --project <org/project>',
    ),
  };
}

async function versions(db: Db, path: string): Promise<CommandResult> {
  const flow = await getFlow(db, path);
  const rows = (await listVersions(db, flow.id)).map((row) => ({
    version: row.version,
    production: row.version === flow.production_version,
    note: row.note,
    createdAt: row.created_at,
  }));
  return {
    json: rows,
    text: formatTable(
      ['version', 'published', 'production', 'note'],
      rows.map((row) => [row.version, formatTime(row.createdAt), row.production ? 'yes' : '', row.note]),
      'No version is published. Publish one with: weir operator flow publish <org/project/flow> --note <text>',
    ),
  };
}

const readHere: ReadCode = async (sources) => sources.map(readCode);

async function publish(db: Db, path: string, options: { note: string }): Promise<CommandResult> {
  const flow = await getFlow(db, path);
  await withValidator((validator) => requireRunnable(flow.draft, validator, readHere));
  const version = await inTransaction(db, async (tx) => {
    const locked = await lockFlowBySlug(tx, flow.project_id, flow.slug);
    if (locked?.id !== flow.id || draftETag(locked.draft) !== draftETag(flow.draft))
      throw new ServiceError(
        'CONFLICT',
        `Somebody has changed the draft of ${path} while it was checked, so it is not published: try again.`,
      );
    return publishFlow(tx, operator(), flow, options.note);
  });
  return { json: { flow: path, version }, text: `Published version ${version} of ${path}.` };
}

async function promote(db: Db, path: string, version: number): Promise<CommandResult> {
  const flow = await getFlow(db, path);
  await inTransaction(db, (tx) => promoteFlow(tx, operator(), flow, version));
  return {
    json: { flow: path, productionVersion: version },
    text: `Version ${version} of ${path} is now in production.`,
  };
}

async function remove(db: Db, path: string, { confirm }: { confirm: string }): Promise<CommandResult> {
  const flow = await getFlow(db, path);
  requireConfirmation(flow.slug, confirm);
  await inTransaction(db, (tx) => removeFlow(tx, operator(), flow));
  return { json: { flow: path }, text: `Deleted ${path}.` };
}
