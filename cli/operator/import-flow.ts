import { noteUnusedFields } from '../../api/flows/draft-notes.ts';
import { type FlowFile, parseUsableFlowFile } from '../../api/flows/flow-file.ts';
import { promoteFlow, publishFlow } from '../../api/flows/recorded-flow-writes.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { insertFlow, lockFlowBySlug, updateDraft } from '../../db/flows/flows.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { listModelKeys } from '../../db/tenants/model-keys.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Change } from '../../flow/find-changes.ts';
import { listBlocks } from '../../flow/plan.ts';
import { readProviders } from '../../platform/config/providers.ts';
import { readEnvironment } from '../../platform/config/read-environment.ts';
import { createValidator, type OrganizationValidator } from '../../platform/json-schema/validator.ts';
import { providerOf } from '../../platform/models/registry.ts';
import { describeChanges, findFlowChanges } from '../flows/flow-content.ts';
import { readSource } from '../terminal/files.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print.ts';
import { getProject, operator } from './on-database.ts';

/** The provider that ships with the project needs no key. */
const DEMO = 'demo';

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

/**
 * Names blocks whose model has no key that this command can see: neither in its environment, which may not be that of the
 * service, nor the organization's own.
 */
async function noteMissingKeys(
  db: Db,
  organizationId: string,
  definition: FlowDefinition,
): Promise<string[]> {
  const own = await listModelKeys(db, organizationId);
  const known = new Set([
    DEMO,
    ...Object.keys(readProviders(readEnvironment(process.env))),
    ...own.map(({ provider }) => provider),
  ]);
  return listBlocks(definition).flatMap(({ step_id, processor_type, model }) => {
    if (processor_type !== 'llm') return [];
    const provider = model && providerOf(model);
    if (provider === undefined || known.has(provider)) return [];
    return `${step_id} asks ${model}, for which no key is in sight: its runs fail unless the service has ${provider.toUpperCase()}_API_KEY or _BASE_URL, or callers send a key of their own.`;
  });
}

/** Lends `work` a validator of JSON Schemas, and closes it afterwards. */
export async function withValidator<T>(work: (validator: OrganizationValidator) => Promise<T>): Promise<T> {
  const validator = createValidator();
  try {
    return await work(validator.of('operator'));
  } finally {
    await validator.close();
  }
}
