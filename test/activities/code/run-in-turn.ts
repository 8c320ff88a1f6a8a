import type { CodeCall, Sandbox } from '../../../activities/code/sandbox.ts';
import type { Json } from '../../../flow/definition.ts';

/** Runs one call when it is the organization's turn. */
export async function runInTurn(
  sandbox: Sandbox,
  call: CodeCall,
  { signal, organization = 'organization' }: { signal?: AbortSignal; organization?: string } = {},
): Promise<{ output: Json }> {
  const turn = await sandbox.wait(organization, signal);
  const { output, json } = await turn.run(call, signal).finally(turn.end);
  return { output: json ? JSON.parse(json.toString()) : output };
}
