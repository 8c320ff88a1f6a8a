import type { CodeCall, CodeResult, Sandbox } from '../../activities/sandbox/sandbox.ts';

/** Runs one call when it is the organization's turn. */
export async function runInTurn(
  sandbox: Sandbox,
  call: CodeCall,
  { signal, organization = 'organization' }: { signal?: AbortSignal; organization?: string } = {},
): Promise<CodeResult> {
  const turn = await sandbox.wait(organization, signal);
  return turn.run(call, signal).finally(turn.end);
}
