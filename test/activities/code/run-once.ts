import type { CodeCall, Sandbox } from '../../../activities/code/sandbox.ts';
import type { Json } from '../../../flow/definition.ts';

/** Runs one call, and parses a large output. */
export async function runOnce(
  sandbox: Sandbox,
  call: CodeCall,
  { signal, organization = 'organization' }: { signal?: AbortSignal; organization?: string } = {},
): Promise<{ output: Json }> {
  const { output, json } = await sandbox.run(organization, call, signal);
  return { output: json ? JSON.parse(json.toString()) : output };
}
