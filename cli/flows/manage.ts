// `weir flow list`, `versions`, `create`, `rename` and `delete`.
import { callApi } from '../api/call-api.ts';
import { type Flow, getFlow, getProject } from '../api/get-by-path.ts';
import { listAll } from '../api/list-all.ts';
import { formatTable, formatTime } from '../terminal/format-table.ts';
import { splitPath } from '../terminal/parse-path.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { requireConfirmation } from '../terminal/require-confirmation.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { flowsUrl, urlOf, type Version } from './service-flow.ts';

export async function list(path: string): Promise<CommandResult> {
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

export async function versions(path: string): Promise<CommandResult> {
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

export async function create(
  path: string,
  { name, description }: { name: string; description?: string },
): Promise<CommandResult> {
  const [organization, project, slug] = splitPath(path, 'org/project/flow');
  const { id } = await getProject(`${organization}/${project}`);
  const body = { name, slug, ...(description !== undefined && { description }) };
  const flow = await callApi<Flow>('POST', flowsUrl(id), { body });
  return { json: flow, text: `Created ${path}, with an empty draft.` };
}

export async function rename(
  path: string,
  { name, description }: { name?: string; description?: string },
): Promise<CommandResult> {
  if (name === undefined && description === undefined) throw new UsageError('Give --name or --description.');
  const body = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
  const flow = await callApi<Flow>('PUT', urlOf(await getFlow(path)), { body });
  return { json: flow, text: `${path} is now named ${JSON.stringify(flow.name)}.` };
}

export async function remove(path: string, { confirm }: { confirm: string }): Promise<CommandResult> {
  requireConfirmation(splitPath(path, 'org/project/flow')[2] ?? '', confirm);
  const flow = await getFlow(path);
  await callApi('DELETE', urlOf(flow));
  return { json: { flow: path, id: flow.id }, text: `Deleted ${path}.` };
}
