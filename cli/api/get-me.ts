import type { z } from 'zod';
import type { meRecord } from '../../api/management/me-schema.ts';
import { callApi } from './call-api.ts';

export type Me = z.output<typeof meRecord>;
export type Named = { id: string; slug: string; name: string };

let asked: Promise<Me> | undefined;

/** Gets who this command acts as, with the ids of what that user or API key can reach; asks once. */
export function getMe(): Promise<Me> {
  asked ??= callApi<Me>('GET', '/api/v1/me');
  return asked;
}
