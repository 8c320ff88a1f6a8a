import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { $api, api } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { CodeDifference } from '../../ui/code-editor/code-editor.tsx';
import { ErrorNote, Loading } from '../../ui/feedback.tsx';
import { type Step, toSteps } from '../draft/steps.ts';
import { useDraft } from '../flow-context.ts';
import { type ChangedStep, describeChanges, inKeyOrder } from './compare-versions.ts';
import { useYaml } from './flow-file-panel.tsx';
import style from './versions.module.css';
import { nameOf, type Side } from './versions-search.ts';

const KINDS = { added: 'good', removed: 'bad', changed: 'idle' } as const;

/** Shows the changes between two versions, or a version and the draft: step by step, and as text. */
export function FlowDifference({ from, to }: { from: Side; to: Side }) {
  const { projectId, flowId, etag } = useDraft();
  const before = useSide(from);
  const after = useSide(to);
  const yaml = useYaml();
  const query = useQuery({
    // With another draft the difference may be another.
    queryKey: ['difference', flowId, from, to, etag],
    queryFn: async () => {
      const path = { project_id: projectId, flow_id: flowId };
      const { data } = await api.GET('/api/v1/projects/{project_id}/flows/{flow_id}/difference', {
        params: { path, query: { from: String(from), to: String(to) } },
      });
      return data?.changes ?? [];
    },
    placeholderData: keepPreviousData,
  });
  const error = before.error ?? after.error ?? query.error;
  if (error) return <ErrorNote error={error} />;
  if (yaml.error) return <ErrorNote error={yaml.error} onRetry={() => void yaml.refetch()} />;
  if (!before.steps || !after.steps || !yaml.data || !query.data) return <Loading />;
  const { write } = yaml.data;
  const changes = describeChanges(query.data);
  if (changes.length === 0) return <p className={style.soft}>They are the same.</p>;
  return (
    <div className={style.difference}>
      <ul className={style.changes}>
        {changes.map((change) => (
          <Changed key={change.stepId ?? ''} {...change} />
        ))}
      </ul>
      <CodeDifference
        label={`${nameOf(from)} and ${nameOf(to).toLowerCase()}`}
        before={write(inKeyOrder(before.steps))}
        after={write(inKeyOrder(after.steps))}
      />
    </div>
  );
}

function Changed({ stepId, kind, lines }: ChangedStep) {
  return (
    <li>
      <code>{stepId ?? 'flow'}</code>
      {kind !== 'changed' && <Badge tone={KINDS[kind]}>{kind}</Badge>}
      <span>{lines.join(' · ')}</span>
    </li>
  );
}

/** Returns the steps of the draft or of a version. Versions never change, so they are fetched once. */
export function useSide(side: Side): { steps: Step[] | undefined; error: Error | null } {
  const { projectId, flowId, steps } = useDraft();
  const { data, error } = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}/versions/{version}',
    {
      params: { path: { project_id: projectId, flow_id: flowId, version: side === 'draft' ? 0 : side } },
    },
    { enabled: side !== 'draft', staleTime: Number.POSITIVE_INFINITY },
  );
  if (side === 'draft') return { steps, error: null };
  return { steps: data && toSteps(data.steps), error };
}
