// A request that repeats a run, as a command for a shell.

type Started = {
  message: string;
  parameters?: object;
  blockOverrides?: object;
  attachments?: unknown[];
  tools?: unknown[];
  toolChoice?: unknown;
};
type Target = { origin: string; org: string; project: string; flow: string; version: number };

/** Makes the command that starts a run of the same kind with the same input, in the same version. */
export function startCommand(target: Target, mode: string, started: Started): string {
  const { message, parameters, blockOverrides, attachments, tools, toolChoice } = started;
  const endpoint = mode === 'execute' ? 'execute' : mode === 'step' ? 'step' : 'jobs';
  const body = {
    ...(endpoint === 'step' && { executionId: null, stepIndex: 0 }),
    message,
    ...(parameters && Object.keys(parameters).length > 0 && { parameters }),
    ...(blockOverrides && { [endpoint === 'step' ? 'blockOverrides' : 'block_overrides']: blockOverrides }),
    ...(attachments && attachments.length > 0 && { attachments }),
    ...(endpoint !== 'jobs' &&
      tools &&
      tools.length > 0 && { tools, ...(toolChoice !== undefined && { toolChoice }) }),
  };
  return curl(target, endpoint, body);
}

/** Makes the command that starts a session at a step of a run. */
export function forkCommand(target: Target, cursor: object): string {
  return curl(target, 'step', cursor);
}

function curl({ origin, org, project, flow, version }: Target, endpoint: string, body: object): string {
  const pinned = version > 0 ? `/v${version}` : '';
  const lines = [
    `curl${endpoint === 'step' ? ' -N' : ''} ${quoted(`${origin}/api/v1/seq/${org}/${project}/${flow}${pinned}/${endpoint}`)}`,
    `  -H "Authorization: Bearer $WEIR_API_KEY"`,
    `  --json ${quoted(JSON.stringify(body, null, 2))}`,
  ];
  return lines.join(' \\\n');
}

/** Quotes a text so that a shell takes it as it is. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
