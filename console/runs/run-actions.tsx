import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, RotateCcw, Square } from 'lucide-react';
import { useState } from 'react';
import { api } from '../api/client.ts';
import type { Step } from '../flow/draft/steps.ts';
import { loadSettings } from '../sign-in/settings.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { showToast } from '../ui/toast.tsx';
import { ReturnFocus } from '../ui/use-return-focus.ts';
import { runRequestQuery } from './detail/run-request.tsx';
import type { Run, RunPath } from './run.ts';
import { startCommand } from './run-curl.ts';
import { topStepIndex } from './trace/executions.ts';
import type { Execution } from './trace/spans.ts';
import { useRepeatRun } from './use-repeat-run.tsx';

type Props = {
  run: Run;
  path: RunPath;
  chosen: Execution | undefined;
  steps: Step[] | undefined;
  projectId: string;
};

/** The actions for a run: cancel, retry, run again, copy, fork, try, save as test case. */
export function RunActions({ run, path, chosen, steps, projectId }: Props) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const settings = useQuery({
    queryKey: ['settings'],
    queryFn: loadSettings,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [isCancelling, setCancelling] = useState(false);
  const isOver = run.status === 'completed' || run.status === 'failed';
  const repeat = useRepeatRun(run, path, projectId);
  const step = chosen && steps ? topStepIndex(steps, chosen.step_id) : undefined;
  const copy = useMutation({
    mutationFn: async () => {
      const started = await client.fetchQuery(runRequestQuery(path, true));
      const target = {
        origin: location.origin,
        ...path,
        version: run.version,
        projectId,
        flowId: run.flowId,
      };
      await navigator.clipboard.writeText(startCommand(target, run.mode, started));
    },
    onSuccess: () => showToast({ tone: 'good', title: 'Copied. It reads the API key from $WEIR_API_KEY.' }),
  });
  const obstacle = findRepeatObstacle(run);
  const temporal = settings.data?.temporalUiUrl
    ? `${settings.data.temporalUiUrl.replace(/\/$/, '')}/namespaces/${encodeURIComponent(settings.data.temporalNamespace)}/workflows/${encodeURIComponent(path.executionId)}`
    : undefined;
  return (
    <>
      {!isOver && (
        <>
          <ReturnFocus />
          <Button variant="danger" onPress={() => setCancelling(true)}>
            <Square size={13} aria-hidden /> Cancel
          </Button>
        </>
      )}
      {run.status === 'failed' && !obstacle && (
        <Button
          variant="primary"
          isDisabled={!repeat.isReady}
          isPending={repeat.isPending}
          onPress={() => void repeat.start('retry')}
        >
          <RotateCcw size={13} aria-hidden /> Retry from the{' '}
          {run.outcome === 'cancelled' ? 'cancelled' : 'failed'} step
        </Button>
      )}
      <Menu
        label="More for this run"
        trigger={
          <IconButton label="More for this run" variant="secondary">
            <Ellipsis size={16} />
          </IconButton>
        }
      >
        <MenuItem
          isDisabled={obstacle !== undefined || !repeat.isReady}
          onAction={() => void repeat.start('rerun')}
        >
          {obstacle ?? 'Run again from the beginning'}
        </MenuItem>
        <MenuItem onAction={() => copy.mutate()}>Copy as curl</MenuItem>
        <MenuItem
          isDisabled={step === undefined}
          onAction={() =>
            void navigate({
              to: '/orgs/$org/projects/$project/flows/$flow',
              params: path,
              search: { fork: path.executionId, at: step, try: true } as never,
            })
          }
        >
          {step === undefined ? 'Fork from a block: choose one first' : 'Fork from the step of this block …'}
        </MenuItem>
        <MenuItem
          onAction={() =>
            void navigate({
              to: '/orgs/$org/projects/$project/flows/$flow',
              params: path,
              search: { input: path.executionId, try: true } as never,
            })
          }
        >
          Try with this input …
        </MenuItem>
        <MenuItem
          onAction={() =>
            void navigate({
              to: '/orgs/$org/projects/$project/flows/$flow/tests',
              params: path,
              search: { from: path.executionId } as never,
            })
          }
        >
          Save as test case …
        </MenuItem>
        {temporal && (
          <MenuItem
            href={temporal}
            target="_blank"
            rel="noreferrer"
            // With this session, Temporal's Web UI can decrypt payloads in this browser.
            onAction={() => {
              if (settings.data?.temporalEncrypted)
                void api.POST('/api/v1/codec/session').catch(() => undefined);
            }}
          >
            Open in Temporal’s Web UI
          </MenuItem>
        )}
      </Menu>
      {repeat.dialog}
      <ConfirmDialog
        title="Cancel this run?"
        action="Cancel the run"
        cancelLabel="Keep it"
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        onConfirm={async () => {
          await api.POST('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/cancel', {
            params: { path },
          });
          await client.invalidateQueries({ queryKey: ['run', path] });
        }}
      >
        It ends as cancelled within seconds. Nothing more is charged; completed blocks stay charged.
      </ConfirmDialog>
    </>
  );
}

/** Returns why a run cannot be repeated as a job; undefined when it can. */
function findRepeatObstacle(run: Run): string | undefined {
  if (run.mode === 'step') return 'A step session is not run again: fork it';
  if (run.version === 0) return 'A run of the draft: try the draft again';
  if (run.status === 'tool_calls_required') return 'Waits for tool calls: cannot be run again as a job';
  return undefined;
}
