import { toApiError } from '../../api/api-error.ts';
import { authorizedFetch } from '../../api/authorized-fetch.ts';
import type { Schemas } from '../../api/client.ts';
import type { Step } from '../../flow/draft/steps.ts';
import { startPath } from '../run-curl.ts';
import type { Run, RunPath } from '../run-path.ts';
import { topStepIndex } from '../trace/top-step-index.ts';

/** `/execute` sends nothing until the run has ended or paused again. */
const RUN_TIMEOUT_MS = 3_600_000;

/** The key of the mutation that resumes a run; it may outlive its form. */
export const sendingKey = (path: RunPath) => ['send tool results', path];

type Paused = Extract<Run, { status: 'tool_calls_required' | 'in_progress' }>;

type ToolResults = {
  run: Paused;
  path: RunPath;
  projectId: string;
  steps: Step[] | undefined;
  /** The request that started the run: its tools are sent again. */
  request: Schemas['RunRequest'];
  /** By tool call id. */
  results: Record<string, string>;
};

/**
 * Resumes a run with the results of its pending tool calls. Resolves when the run has ended or paused again; for a
 * session, when they are accepted.
 */
export async function sendToolResults(answer: ToolResults): Promise<void> {
  const { run, path, projectId } = answer;
  const endpoint = run.mode === 'step' ? 'step' : 'execute';
  const url = startPath({ ...path, version: run.version, projectId, flowId: run.flowId }, endpoint);
  const stop = new AbortController();
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, signal: stop.signal };
  const request = new Request(new URL(url, location.origin), {
    ...init,
    body: JSON.stringify(resumeBody(answer)),
  });
  const response = await authorizedFetch(request, RUN_TIMEOUT_MS);
  if (!response.ok) throw await toApiError(response);
  // A session answers with a stream of events, which the page of the run follows anyway.
  stop.abort();
}

/**
 * Builds the request that resumes a paused run. It sends no tool choice: a model that must call a function would never
 * end.
 */
function resumeBody({ run, steps, request, results }: Omit<ToolResults, 'path' | 'projectId'>): object {
  const {
    executionId,
    pausedAtStep = '',
    iterationsUsed,
    toolCallMessages = [],
    accumulatedOutputs,
    resumeState,
  } = run;
  const answers = (run.toolCalls ?? []).map(({ id }) => ({
    role: 'tool',
    tool_call_id: id,
    content: results[id] ?? '',
  }));
  return {
    executionId,
    ...(run.mode === 'step' ? { stepIndex: steps && topStepIndex(steps, pausedAtStep) } : { pausedAtStep }),
    iterationsUsed,
    toolCallMessages: [...toolCallMessages, ...answers],
    accumulatedOutputs,
    resumeState,
    ...(request.tools?.length && { tools: request.tools }),
  };
}
