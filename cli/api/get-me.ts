import { z } from 'zod';
import type { meRecord } from '../../api/organizations/me-schema.ts';
import { callApi } from './call-api.ts';
import { serviceUrl } from './service-url.ts';
import { notWeir } from './to-error.ts';

export type Me = z.output<typeof meRecord>;
export type Named = { id: string; slug: string; name: string };

let asked: Promise<Me> | undefined;

/** Gets who this command acts as, with the ids of what that user or API key can reach; asks once. */
export function getMe(): Promise<Me> {
  asked ??= callApi<unknown>('GET', '/api/v1/me').then((answer) => readMe(answer, serviceUrl()));
  return asked;
}

/** Has the next command ask anew. */
export function forgetMe(): void {
  asked = undefined;
}

const named = z.looseObject({ id: z.string(), slug: z.string(), name: z.string() });
const text = z.string().nullable();
/** The fields of the answer that commands read. A newer service may have other roles and scopes. */
const shape = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('user'),
    userId: z.string(),
    name: text,
    email: text,
    organizations: z.array(z.looseObject({ ...named.shape, role: z.string(), projects: z.array(named) })),
    invitations: z.array(z.looseObject({ id: z.string(), role: z.string(), organization: named })),
    hasMore: z.boolean(),
  }),
  z.looseObject({
    kind: z.literal('api_key'),
    keyId: z.string(),
    name: z.string(),
    environment: z.string(),
    organization: named,
    project: named,
  }),
]);

/** Reads the answer of GET /me of the service at `url`. Throws Unreachable when it is not that of Weir. */
export function readMe(answer: unknown, url: string): Me {
  if (shape.safeParse(answer).success) return answer as Me;
  throw notWeir(url);
}
