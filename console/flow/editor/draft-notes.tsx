import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { hasRole, useOrganization } from '../../shell/me.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Note } from '../../ui/feedback.tsx';
import { Time } from '../../ui/time.tsx';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import { useDraft, useFlow } from '../flow-context.ts';
import style from './editor.module.css';
import { ConflictDialog } from './elsewhere-dialogs.tsx';

/** Says above the graph that the draft was changed elsewhere, is refused, or is not saved. */
export function DraftNotes() {
  const { saveState, message, conflict, undo, undoElsewhere, takenOver, undoesElsewhere, hasElsewhere } =
    useDraft();
  const [isComparing, setComparing] = useState(false);
  const [dismissed, dismiss] = useState(0);
  // The message stays while saving is retried.
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    if (saveState === 'offline') setFailure(message ?? '');
    else if (saveState !== 'saving') setFailure(undefined);
  }, [saveState, message]);
  if (saveState === 'conflict')
    return (
      <div className={style.note} role="alert">
        <Note tone="warn">
          <div className={style.noteLine}>
            <span>
              <strong>The draft was changed elsewhere while you changed it here.</strong> Nothing has been
              overwritten; your changes are kept here until you choose.{' '}
              {conflict && <LastEditor change={conflict.etag} />}
            </span>
            <Button size="small" onPress={() => setComparing(true)}>
              Compare and choose
            </Button>
          </div>
        </Note>
        {isComparing && <ConflictDialog onClose={() => setComparing(false)} />}
      </div>
    );
  if (saveState === 'refused')
    return (
      <div className={style.note} role="alert">
        <Note tone="warn">
          <div className={style.noteLine}>
            <span>
              <strong>The service does not accept this draft, so it is not saved.</strong> {message}
            </span>
            <Button size="small" onPress={undo}>
              Undo the last change
            </Button>
          </div>
        </Note>
      </div>
    );
  if (failure !== undefined)
    return (
      <div className={style.note} role="alert">
        <Note tone="warn">
          <strong>The draft is not saved yet. Saving will be retried.</strong> {failure}
        </Note>
      </div>
    );
  if (takenOver <= dismissed || !hasElsewhere) return null;
  return (
    <div className={style.note} role="status">
      <ReturnFocus />
      <Note>
        <div className={style.noteLine}>
          <span>
            The draft was changed elsewhere, and is shown as it is now. <LastEditor change={`${takenOver}`} />
          </span>
          {undoesElsewhere && (
            <Button size="small" onPress={undoElsewhere}>
              Undo these changes
            </Button>
          )}
          <IconButton label="Close" size="small" onPress={() => dismiss(takenOver)}>
            <X size={14} />
          </IconButton>
        </div>
      </Note>
    </div>
  );
}

/**
 * Says who changed the flow last and when, to users who may read the audit log. Fetched once for each `change` of a
 * visit.
 */
function LastEditor({ change }: { change: string }) {
  const { flow, org } = useFlow();
  const { openedAt } = useDraft();
  const organization = useOrganization(org);
  const { data } = useQuery({
    queryKey: ['last editor', flow.id, openedAt, change],
    queryFn: async () => {
      const { data } = await api.GET('/api/v1/organizations/{org_id}/audit-log', {
        params: { path: { org_id: organization.id }, query: { action: 'flow.edit', limit: 100 } },
      });
      return data?.entries.find(({ resourceId }) => resourceId === flow.id) ?? null;
    },
    enabled: hasRole(organization, 'admin'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!data) return null;
  return (
    <span>
      By {data.actorName ?? data.actorEmail ?? data.actor}, <Time at={data.at} />.
    </span>
  );
}
