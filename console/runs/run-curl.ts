import { curlCommand, quoteForShell } from '../api/curl-command.ts';

type Started = {
  message: string | null;
  parameters?: object | null;
  block_overrides?: object | null;
  attachments?: unknown[];
  tools?: unknown[] | null;
  toolChoice?: unknown;
  maxCredits?: number | null;
  callbackUrl?: string | null;
  callbackEvents?: string[] | null;
};
type Target = {
  origin: string;
  org: string;
  project: string;
  flow: string;
  version: number;
  projectId: string;
  flowId: string;
};

/** Writes the curl command that starts a run of the same kind, version and input. */
export function startCommand(target: Target, mode: string, started: Started): string {
  const { parameters, block_overrides, attachments, tools, toolChoice, maxCredits } = started;
  const endpoint = mode === 'execute' ? 'execute' : mode === 'step' ? 'step' : 'jobs';
  const body = {
    ...(endpoint === 'step' && { executionId: null, stepIndex: 0 }),
    message: started.message ?? '',
    ...(isFilled(parameters) && { parameters }),
    ...(isFilled(block_overrides) && {
      [endpoint === 'step' ? 'blockOverrides' : 'block_overrides']: block_overrides,
    }),
    ...(isFilled(attachments) && { attachments }),
    ...(typeof maxCredits === 'number' && { maxCredits }),
    ...(endpoint !== 'jobs' && isFilled(tools) && { tools, ...(toolChoice != null && { toolChoice }) }),
    ...(endpoint === 'jobs' && started.callbackUrl && { callbackUrl: started.callbackUrl }),
    ...(endpoint === 'jobs' &&
      isFilled(started.callbackEvents) && { callbackEvents: started.callbackEvents }),
  };
  const url = quoteForShell(target.origin + startPath(target, endpoint));
  return curlCommand(url, { ...(endpoint === 'step' && { options: ' -N' }), body });
}

/** Returns the path that starts a run. The draft, version 0, has its own endpoints. */
export function startPath(
  { org, project, flow, version, projectId, flowId }: Omit<Target, 'origin'>,
  endpoint: string,
): string {
  return version > 0
    ? `/api/v1/seq/${org}/${project}/${flow}/v${version}/${endpoint}`
    : `/api/v1/projects/${projectId}/flows/${flowId}/draft/${endpoint === 'jobs' ? 'runs' : endpoint}`;
}

function isFilled(value: object | null | undefined): boolean {
  return value != null && Object.keys(value).length > 0;
}
