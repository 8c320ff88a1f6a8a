// main of a process that POSTs through platform/net/guarded-post.ts, for tests that give it a network of its own. The first
// argument is JSON with the targets; the outcome of each is printed as a line of JSON.
import { createGuardedPost } from '../../platform/net/guarded-post.ts';
import { createResolvePublic } from '../../platform/net/resolve-public.ts';

/** `proxy` is the egress proxy's URL. */
export type PostOrder = { host: string; addresses: string[]; proxy?: string };

const orders = JSON.parse(process.argv[2] ?? '[]') as PostOrder[];
for (const { host, addresses, proxy } of orders) {
  const post = createGuardedPost({
    resolvePublic: createResolvePublic({ lookup: async () => addresses }),
    proxy: proxy === undefined ? undefined : new URL(proxy),
  });
  const end = await post(new URL(`https://${host}/`), {}, Buffer.from('{}')).then(
    ({ status }) => `answered ${status}`,
    (error: Error) => `${error.constructor.name}: ${error.message}`,
  );
  console.log(JSON.stringify(end));
}
