import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type Model, useModels } from '../../api/use-models.ts';
import { useProject } from '../../shell/me.ts';
import { Badge } from '../../ui/badge.tsx';
import { ComboBox } from '../../ui/fields/combo-box.tsx';
import { formatCompact, formatCredits } from '../../ui/format.ts';
import type { SequentialStep } from '../draft/steps.ts';
import { useFlow } from '../flow-context.ts';
import style from './inspector.module.css';
import { useStep } from './use-step.ts';

/** Edits the model of a block. Shows its price, abilities and the key that its calls use. */
export function ModelField({ step }: { step: SequentialStep }) {
  const { org, project } = useFlow();
  const { organization } = useProject({ org, project });
  const { set, problemOf } = useStep(step);
  const query = useModels(organization.id);
  const models = query.data ?? [];
  const options = useMemo(
    () => (query.isPending ? undefined : toOptions(query.data ?? [])),
    [query.isPending, query.data],
  );
  const { model = '' } = step;
  const found = findModel(models, model);
  return (
    <div className={style.names}>
      <ComboBox
        label="Model"
        options={options}
        value={model}
        onChange={(model) => model !== (step.model ?? '') && set('model', model || undefined)}
        placeholder="provider/model"
        error={problemOf('model') ?? (model === '' ? 'Choose a model.' : undefined)}
      />
      {query.error && <p className={style.problem}>The models cannot be listed: {query.error.message}</p>}
      {found && <ModelFacts model={found} org={org} wantsSchema={step.outputSchema !== undefined} />}
    </div>
  );
}

function ModelFacts({ model, org, wantsSchema }: { model: Model; org: string; wantsSchema: boolean }) {
  const { key, inputPrice, cachedInputPrice, outputPrice, contextTokens, images, tools, jsonSchema } = model;
  return (
    <>
      <div className={style.facts}>
        {key === 'service' && (
          <span>
            {formatCredits(inputPrice)} in, {formatCredits(cachedInputPrice)} cached,{' '}
            {formatCredits(outputPrice)} out: credits per million tokens
          </span>
        )}
        <span>{formatCompact(contextTokens)} tokens of context</span>
        {images && <Badge>Images</Badge>}
        {tools && <Badge>Tools</Badge>}
        {jsonSchema && <Badge>JSON Schema</Badge>}
      </div>
      {wantsSchema && !jsonSchema && (
        <p className={style.help}>
          This model does not enforce JSON Schemas: the output schema is added to its prompt, and its answer
          is checked.
        </p>
      )}
      {key === 'organization' && (
        <p className={style.help}>Called with the organization’s own key: it costs no credits here.</p>
      )}
      {key === null && (
        <p className={style.help}>
          No key is set for this provider: calls fail unless the caller sends a key.{' '}
          <Link to="/orgs/$org/settings/model-keys" params={{ org }}>
            Add a model key
          </Link>
        </p>
      )}
    </>
  );
}

/** Models with a key come first. */
function toOptions(models: Model[]) {
  const named = models.filter(({ model }) => !model.endsWith('/*'));
  return [...named]
    .sort((a, b) => Number(a.key === null) - Number(b.key === null))
    .map((model) => ({ id: model.model, label: model.model, description: describe(model) }));
}

function describe({ key, inputPrice, outputPrice, contextTokens }: Model): string {
  const context = `${formatCompact(contextTokens)} context`;
  if (key === null) return `No key · ${context}`;
  if (key === 'organization') return `Your key · ${context}`;
  return `${formatCredits(inputPrice)} / ${formatCredits(outputPrice)} credits per M tokens · ${context}`;
}

/** Finds the list entry of a model: its own, or the wildcard entry of its provider. */
function findModel(models: Model[], name: string): Model | undefined {
  const provider = name.slice(0, name.indexOf('/') + 1);
  return (
    models.find(({ model }) => model === name) ??
    (provider !== '' && name.length > provider.length
      ? models.find(({ model }) => model === `${provider}*`)
      : undefined)
  );
}
