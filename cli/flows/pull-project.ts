import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../../flow/errors.ts';
import { SLUG_PATTERN } from '../../flow/limits.ts';
import { type Flow, getProject } from '../api/get-by-path.ts';
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
  flows.forEach(requireSlug);
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

/** Throws VALIDATION_ERROR for a slug that is not valid: as the name of a file it could be a path out of the folder. */
function requireSlug({ slug }: Flow): void {
  if (SLUG_PATTERN.test(slug)) return;
  throw new ServiceError(
    'VALIDATION_ERROR',
    `The service lists a flow whose slug ${JSON.stringify(slug)} is not valid, so nothing was written. Check WEIR_URL.`,
  );
}
