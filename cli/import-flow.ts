import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { type FlowFile, parseFlowFile } from '../api/flow-definition.ts';
import type { Db } from '../db/connect.ts';
import {
  findFlowBySlug,
  insertFlow,
  publishVersion,
  setProductionVersion,
  updateDraft,
} from '../db/flows.ts';
import { ServiceError } from '../flow/errors.ts';
import type { Answer } from './answer.ts';
import { getProject } from './find-by-path.ts';
import { requireRunnable } from './require-runnable.ts';

export type ImportOptions = { project: string; publish?: boolean; note: string; production?: boolean };

/** Nothing is changed unless the whole file is right. */
export async function importFlow(db: Db, source: string, options: ImportOptions): Promise<Answer> {
  const project = await getProject(db, options.project);
  const { slug, name, description = '', steps } = await readFlow(source);
  const path = `${options.project}/${slug}`;
  const existing = await findFlowBySlug(db, project.id, slug);
  if (existing) await updateDraft(db, existing.id, { steps }, { name, description });
  const flow =
    existing ??
    (await insertFlow(db, { projectId: project.id, slug, name, description, definition: { steps } }));
  const done = [existing ? `Replaced the draft of ${path}` : `Created flow ${path}`];
  const publish = options.publish || options.production;
  const version = publish ? await publishVersion(db, flow.id, options.note) : null;
  if (version !== null) done.push(`published it as version ${version}`);
  if (version !== null && options.production) {
    await setProductionVersion(db, flow.id, version);
    done.push('made that the production version');
  }
  return {
    json: { flow: path, created: !existing, version, production: options.production === true },
    text: `${done.join(', ')}.`,
  };
}

async function readFlow(source: string): Promise<FlowFile> {
  const text = await readSource(source);
  try {
    const file = parseFlowFile(text, source.toLowerCase().endsWith('.json') ? 'json' : 'yaml');
    await requireRunnable(file);
    return file;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, `${source} cannot be imported:\n${error.message}`, error.extra);
  }
}

async function readSource(source: string): Promise<string> {
  const bytes =
    source === '-' ? await buffer(process.stdin) : await readFile(source).catch(unreadable(source));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceError('VALIDATION_ERROR', `${source} is not UTF-8 text.`);
  }
}

function unreadable(source: string) {
  return (error: NodeJS.ErrnoException): never => {
    const why = { ENOENT: 'there is no such file', EISDIR: 'it is a folder', EACCES: 'it may not be read' };
    const reason = why[error.code as keyof typeof why] ?? error.message;
    throw new ServiceError('VALIDATION_ERROR', `${source} cannot be imported: ${reason}.`);
  };
}
