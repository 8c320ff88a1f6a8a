import { takeLargeWork } from '../http/take-bytes.ts';
import type { McpCall } from './tool.ts';

/**
 * Runs work over `bytes` of drafts and versions under the organization's permit, after reserving that memory until
 * the response is sent. Call it outside of transactions. Throws as `takeBytes` does.
 */
export async function workOnDraft<T>(
  { deps, gone, holdAnswer }: Pick<McpCall, 'deps' | 'gone' | 'holdAnswer'>,
  organizationId: string,
  bytes: number,
  work: () => Promise<T>,
): Promise<T> {
  await holdAnswer(organizationId, bytes);
  const endTurn = await takeLargeWork(deps.largeValues.work, organizationId, bytes, { gone: () => gone });
  return work().finally(endTurn);
}
