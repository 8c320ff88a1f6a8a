import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { CodeDifference } from '../../ui/code-editor/code-difference.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Loading } from '../../ui/loading.tsx';
import { useDraft } from '../draft/draft-context.ts';
import { type ChangedStep, describeChanges } from './describe-changes.ts';
import { inKeyOrder } from './key-order.ts';
import { nameOf, type Side } from './side.ts';
import { useYaml } from './use-flow-text.ts';
import { useSide } from './use-side.ts';
import style from './versions.module.css';

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
