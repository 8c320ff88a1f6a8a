import { takeLargeWork } from '../http/take-bytes.ts';
import type { McpCall } from './tool.ts';

/**
 * Does work over so many bytes of drafts and versions in a turn of their organization, once that may hold them until the answer is
 * sent. Called outside of transactions. Throws as `takeBytes` does.
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
