import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Flow, getProject } from '../api/find-by-path.ts';
import { listAll } from '../api/list-all.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { type PullOptions, writeFlow } from './pull.ts';
import { listFlowFiles, readFlowFiles } from './read-flow-files.ts';
import { flowsUrl, readDraft } from './service-flow.ts';

/** Writes the drafts of all flows of a project into a folder: each into the file that has its slug, else a new one. */
export async function pullProject(
  project: string,
  folder: string | undefined,
  options: PullOptions,
): Promise<CommandResult> {
  if (options.version !== undefined) throw new UsageError('--version is of one flow: give its path.');
  if (folder === undefined) throw new UsageError('Give the folder to write the flows of the project into.');
  const flows = await listAll<Flow>(flowsUrl((await getProject(project)).id), 'flows');
  await mkdir(folder, { recursive: true });
  const isEmpty = (await stat(folder)).isDirectory() && (await listFlowFiles(folder)).length === 0;
  const locals = isEmpty ? [] : await readFlowFiles([folder]);
  const written = [];
  for (const flow of flows) {
    const known = locals.find((local) => local.flow.slug === flow.slug)?.file;
    const { content } = await readDraft(flow);
    const file = known ?? path.join(folder, `${flow.slug}.yaml`);
    written.push(await writeFlow(flow, `${project}/${flow.slug}`, content, file, options));
  }
  return {
    json: written.map(({ json }) => json),
    text: written.map(({ text }) => text).join('\n') || `${project} has no flows.`,
  };
}
