import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import {
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { isMissing } from '../../api/api-error.ts';
import { queryClient } from '../../api/query-client.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { DraftContext } from './draft-context.ts';
import { draftServer } from './draft-server.ts';
import type { ServerDraft } from './draft-state.ts';
import { DraftStore } from './draft-store.ts';
import { renameStep } from './edit-steps.ts';
import { hasElsewhere, isLastElsewhere } from './history.ts';
import { LeaveGuard } from './leave-guard.tsx';
import { findStep, type Step } from './steps.ts';
import { usePollDraft } from './use-follow-draft.ts';

type Props = {
  projectId: string;
  flowId: string;
  /** Called when the flow was deleted, with the draft as it is here. */
  onDeleted: (steps: Step[]) => void;
  children: ReactNode;
};

/** Provides the draft of a flow to its pages, which use it by `useDraft`. */
export function DraftProvider({ projectId, flowId, onDeleted, children }: Props) {
  const server = useMemo(() => draftServer(projectId, flowId), [projectId, flowId]);
  const query = useQuery({
    queryKey: ['draft to edit', flowId],
    queryFn: async () => (await server.read(undefined)) ?? null,
    // Read once; the store keeps the draft from then on.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const wasDeleted = isMissing(query.error);
  useEffect(() => {
    if (wasDeleted) void queryClient.invalidateQueries({ queryKey: ['flow id', projectId] });
  }, [wasDeleted, projectId]);
  return (
    <QueryView query={query}>
      {(draft) =>
        draft && (
          <Editing key={flowId} {...{ draft, server, projectId, flowId, onDeleted }}>
            {children}
          </Editing>
        )
      }
    </QueryView>
  );
}

type EditingProps = Props & { draft: ServerDraft; server: ReturnType<typeof draftServer> };

function Editing({ draft, server, projectId, flowId, onDeleted, children }: EditingProps) {
  const [store] = useState(() => new DraftStore(draft, server));
  const [openedAt] = useState(Date.now);
  const actions = useMemo(
    () => ({
      change: store.change.bind(store),
      undo: store.undo.bind(store),
      undoLatest: store.undoLatest.bind(store),
      undoElsewhere: store.undoElsewhere.bind(store),
      keepElsewhere: store.keepElsewhere.bind(store),
      redo: store.redo.bind(store),
      flush: store.flush.bind(store),
      saveToRun: store.saveToRun.bind(store),
      refresh: store.refresh.bind(store),
      resolve: store.resolve.bind(store),
      discard: store.discard.bind(store),
    }),
    [store],
  );
  const state = useSyncExternalStore(store.subscribe, store.state);
  const navigate = useNavigate();
  const { step } = useSearch({ strict: false }) as { step?: string };
  const select = useCallback(
    (stepId: string | undefined) =>
      void navigate({
        to: '.',
        search: ((search: object) => ({ ...search, step: stepId })) as never,
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const [renamedTo, setRenamedTo] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address has followed, or names another step
  useEffect(() => setRenamedTo(undefined), [step]);
  const rename = useCallback(
    (from: string, to: string) => {
      setRenamedTo(to);
      store.change(`Rename ${from} to ${to}`, (steps) => renameStep(steps, from, to));
      select(to);
    },
    [store, select],
  );
  usePollDraft(store);
  useEffect(() => () => store.close(), [store]);
  const { steps, isDeleted } = state;
  useEffect(() => {
    if (isDeleted) onDeleted(steps);
  }, [isDeleted, steps, onDeleted]);
  const { etag } = state.saved;
  const known = useRef(etag);
  useEffect(() => {
    // Saving may change whether the draft equals a version, even when its steps are as before.
    if (etag !== known.current) void queryClient.invalidateQueries({ queryKey: ['get', FLOW_PATH] });
    known.current = etag;
  }, [etag]);
  const value = useMemo(() => {
    const { past, future } = state.history;
    return {
      ...state,
      projectId,
      flowId,
      openedAt,
      notes: state.saved.notes,
      etag: state.saved.etag,
      selectedId: (findStep(state.steps, step) ?? findStep(state.steps, renamedTo))?.step.step_id,
      select,
      rename,
      renamedTo,
      undoLabel: past.at(-1)?.label,
      undoSteps: past.at(-1)?.steps,
      undoesElsewhere: isLastElsewhere(state.history),
      hasElsewhere: hasElsewhere(state.history),
      redoLabel: future.at(-1)?.label,
      canUndo: past.length > 0,
      canRedo: future.length > 0,
      ...actions,
    };
  }, [state, actions, step, select, rename, renamedTo, projectId, flowId, openedAt]);
  return (
    <DraftContext value={value}>
      {children}
      <LeaveGuard />
    </DraftContext>
  );
}

const FLOW_PATH = '/api/v1/projects/{project_id}/flows/{flow_id}';
