import { callApi, type Query } from './call-api.ts';
import { serviceUrl } from './service-url.ts';
import { notWeir } from './to-error.ts';

const PAGE_MAX = 200;

type Page<T> = { hasMore: boolean; nextCursor: string | null } & { [name: string]: T[] };

/**
 * Lists the entries `name` of a list over all its pages, at most `limit` of them. `cursor` is the field of the query that
 * takes the place of the next page.
 */
export async function listAll<T>(
  path: string,
  name: string,
  {
    limit = Number.POSITIVE_INFINITY,
    cursor = 'cursor',
    query = {},
  }: { limit?: number; cursor?: string; query?: Query } = {},
): Promise<T[]> {
  const found: T[] = [];
  for (let next: string | undefined; ; ) {
    const size = Math.min(PAGE_MAX, limit - found.length);
    const page: Page<T> = await callApi('GET', path, { query: { ...query, limit: size, [cursor]: next } });
    if (!Array.isArray(page?.[name])) throw notWeir(serviceUrl());
    found.push(...page[name]);
    if (!page.nextCursor || found.length >= limit) return found;
    next = page.nextCursor;
  }
}
