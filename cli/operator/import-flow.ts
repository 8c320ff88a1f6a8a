import { type FlowFile, parseUsableFlowFile } from '../../api/flows/flow-file.ts';
import { noteUnusedFields } from '../../api/flows/note-unused-fields.ts';
import { promoteFlow, publishFlow } from '../../api/flows/recorded-flow-writes.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { insertFlow, updateDraft } from '../../db/flows/flows.ts';
import { lockFlowBySlug } from '../../db/flows/lock-flow-by-slug.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Change } from '../../flow/find-changes.ts';
import { describeChanges, findFlowChanges } from '../flows/describe-changes.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { readSource } from '../terminal/read-source.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { getProject } from './get-by-path.ts';
import { noteMissingKeys } from './note-missing-keys.ts';
import { operator } from './operator.ts';
import { withValidator } from './with-validator.ts';

type ImportOptions = { project: string; publish?: boolean; note?: string; production?: boolean };

/**
 * Imports a flow file as a draft and, where asked, publishes and promotes it: all of it in one transaction. The draft is
 * replaced whatever it holds; the result says what changed.
 */
export async function importFlow(db: Db, source: string, options: ImportOptions): Promise<CommandResult> {
  const publish = options.publish || options.production;
  if (options.note !== undefined && !publish)
    throw new UsageError('--note describes a version: give --publish or --production too.');
  const { id: projectId, organization_id: organizationId } = await getProject(db, options.project);
  const { slug, name, description = '', steps } = await readFlow(source);
  const path = `${options.project}/${slug}`;
  // Before anything changes: it throws where a variable of a provider is wrong.
  const notes = [...(await noteMissingKeys(db, organizationId, { steps })), ...noteUnusedFields({ steps })];
  const { replaced, version } = await inTransaction(db, async (tx) => {
    const author = operator();
    const existing = await lockFlowBySlug(tx, projectId, slug);
    if (existing) await updateDraft(tx, existing.id, { steps }, { name, description });
    const { id } =
      existing ?? (await insertFlow(tx, { projectId, slug, name, description, definition: { steps } }));
    const action = existing ? 'flow.edit' : 'flow.create';
    await recordChange(tx, author, {
      organizationId,
      action,
      resourceId: id,
      details: { slug, imported: true },
    });
    const flow = { id, organizationId };
    const version = publish ? await publishFlow(tx, author, flow, options.note ?? '') : null;
    if (version !== null && options.production) await promoteFlow(tx, author, flow, version);
    return { replaced: existing && { ...existing, steps: existing.draft.steps }, version };
  });
  const created = !replaced;
  const changes = replaced ? findFlowChanges(replaced, { name, slug, description, steps }) : [];
  const done = [created ? `Created flow ${path}` : `Replaced the draft of ${path}`];
  if (version !== null) done.push(`published it as version ${version}`);
  if (options.production) done.push('made that version the production version');
  return {
    json: { flow: path, created, version, production: options.production === true, changes, notes },
    text: [`${done.join(', ')}.`, ...listOf(changes), ...notes.map((note) => `Note: ${note}`)].join('\n'),
  };
}

function listOf(changes: Change[]): string[] {
  return changes.length === 0 ? [] : [`This changed:\n${describeChanges(changes)}`];
}

async function readFlow(source: string): Promise<FlowFile> {
  const text = await readSource(source);
  try {
    const format = source.toLowerCase().endsWith('.json') ? 'json' : 'yaml';
    return await withValidator((validator) =>
      parseUsableFlowFile(text, format, validator.requireValidSchema),
    );
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, `${source} cannot be imported:\n${error.message}`, error.extra);
  }
}
