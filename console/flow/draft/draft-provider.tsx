import { useQuery } from '@tanstack/react-query';
import { useBlocker, useNavigate, useSearch } from '@tanstack/react-router';
import {
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { ApiError, isMissing } from '../../api/api-error.ts';
import { api, queryClient } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { QueryView } from '../../ui/feedback.tsx';
import { DraftContext, useDraft } from '../flow-context.ts';
import { type DraftServer, DraftStore, type SaveResult, type ServerDraft } from './draft-store.ts';
import { renameStep } from './edit-steps.ts';
import { hasElsewhere, isLastElsewhere } from './history.ts';
import { findStep, type Step, toSteps } from './steps.ts';

const POLL_MS = 4_000;

type DraftResponse = Omit<ServerDraft, 'etag' | 'steps'> & { steps: Parameters<typeof toSteps>[0] };

type Reported = { path?: string; field?: string; message: string };

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

/** Reads and saves the draft of a flow at the service. */
function draftServer(project_id: string, flow_id: string): DraftServer {
  const path = '/api/v1/projects/{project_id}/flows/{flow_id}/draft';
  return {
    async read(etag) {
      const header = etag === undefined ? {} : { 'If-None-Match': etag };
      const { data, response } = await api.GET(path, { params: { path: { project_id, flow_id }, header } });
      return data && toDraft(data, response);
    },
    async save(steps, etag) {
      try {
        const { data, response } = await api.PUT(path, {
          params: { path: { project_id, flow_id }, header: { 'If-Match': etag } },
          body: { steps },
        });
        return { type: 'saved', draft: toDraft(data as DraftResponse, response) };
      } catch (error) {
        return toResult(error);
      }
    },
  };
}

function toDraft({ steps, problems, notes }: DraftResponse, response: Response): ServerDraft {
  return { steps: toSteps(steps), problems, notes, etag: response.headers.get('etag') ?? '' };
}

function toResult(error: unknown): SaveResult {
  if (!(error instanceof ApiError))
    return { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  const { status, message, detail } = error;
  if (status === 412) return { type: 'changed' };
  if (isMissing(error)) return { type: 'deleted' };
  // The next save finds out whether this one was carried out.
  if (status === 0) return { type: 'failed', message: 'The service cannot be reached.' };
  if (status === 408 || status === 429 || status >= 500) return { type: 'failed', message };
  const reported = (detail.problems ?? detail.errors ?? []) as Reported[];
  const problems = reported.map((problem) => ({
    path: problem.path ?? problem.field ?? '',
    message: problem.message,
  }));
  return { type: 'refused', message, problems };
}

/** Checks for changes made elsewhere every few seconds while the window is visible, and when it becomes visible. */
function usePollDraft(store: DraftStore): void {
  useEffect(() => {
    const refresh = () => {
      if (document.visibilityState === 'visible') void store.refresh();
    };
    const timer = setInterval(refresh, POLL_MS);
    addEventListener('focus', refresh);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', refresh);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [store]);
}

/** Saves the draft before the user leaves the flow, and asks when it cannot be saved. */
function LeaveGuard() {
  const { saveState, message, flush, discard } = useDraft();
  const blocker = useBlocker({
    shouldBlockFn: async ({ current, next }) =>
      flowOf(current.pathname) !== flowOf(next.pathname) && !(await flush()),
    enableBeforeUnload: () => saveState !== 'saved',
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog title="The draft is not saved" isOpen onClose={blocker.reset}>
      <p>
        {saveState === 'conflict'
          ? 'It was changed elsewhere meanwhile. Stay to choose between the two, or leave without your last changes.'
          : `${message ?? 'The service did not accept it.'} Stay to fix it, or leave without your last changes.`}
      </p>
      <DialogActions>
        <Button
          variant="danger"
          onPress={() => {
            discard();
            blocker.proceed();
          }}
        >
          Leave without them
        </Button>
        <Button variant="primary" onPress={blocker.reset}>
          Stay
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Returns the path up to the flow: pages with the same one share the draft. */
function flowOf(pathname: string): string | undefined {
  return /^.*\/flows\/[^/]+(?!.*\/runs\/)/.exec(pathname)?.[0];
}
