import assert from 'node:assert/strict';
import type Router from '@koa/router';
import { createApp } from '../../api/app.ts';
import type { ApiDeps } from '../../api/deps.ts';
import { readConfig } from '../../platform/config/config.ts';

const MIDDLEWARE_MAX = 12;

describe('the middleware of POST …/execute', () => {
  // biome-ignore lint/suspicious/noExplicitAny: stands for dependencies of every shape, of which no request uses one
  const unused: any = new Proxy(() => undefined, {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : unused),
    apply: () => unused,
  });
  const config = readConfig({
    DATABASE_URL: 'postgres://127.0.0.1/weir',
    WEIR_API_KEY_PEPPER: 'pepper'.repeat(6),
    WEIR_SECRETS_KEYS: `1:${Buffer.alloc(32).toString('base64')}`,
  });
  const deps = new Proxy({ config }, { get: (known, name) => Reflect.get(known, name) ?? unused });
  const { middleware } = createApp(deps as unknown as ApiDeps, () => true);
  const ofRouter = middleware.findIndex((one) => 'router' in one);
  const { router } = middleware[ofRouter] as unknown as { router: Router };

  for (const { path, stack } of router.stack.filter(({ path }) => String(path).endsWith('/execute')))
    it(`is at most ${MIDDLEWARE_MAX} from Koa to the handler, for ${path}`, () => {
      const names = [...middleware.slice(0, ofRouter + 1), ...stack].map(({ name }) => name);
      assert.ok(names.length <= MIDDLEWARE_MAX, names.join(', '));
      assert.equal(names.at(-1), 'execute');
    });
});
