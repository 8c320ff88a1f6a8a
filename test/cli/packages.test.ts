// Each command starts anew, so that what it loads is felt.
import assert from 'node:assert/strict';
import { spawnWeir } from './cli-harness.ts';

/** Prints the packages that a program has loaded, once it ends. */
const LISTING = `import { registerHooks } from 'node:module';
const packages = new Set();
registerHooks({ load(url, context, next) {
  packages.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]);
  return next(url, context);
} });
process.on('exit', () => console.error('\\n' + JSON.stringify([...packages])));`;

/** Packages with which the service serves, and those for flow files. */
const OF_FEW =
  /^(koa|oidc-provider|openai|undici|pg|kysely|pino|ajv|piscina|jose|openid-client|@temporalio\/.*|yaml|acorn)$/;

/** Runs a command, and lists those of the packages that it has loaded. */
async function loadedBy(args: string[]): Promise<string[]> {
  const env = {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LISTING)}`,
    WEIR_URL: 'http://127.0.0.1:9',
    WEIR_API_KEY: 'k',
    WEIR_STATE_DIR: '/nonexistent',
  };
  const { stderr } = await spawnWeir(env, args);
  const loaded: string[] = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
  assert.ok(loaded.includes('commander'), stderr);
  return loaded.filter((name) => OF_FEW.test(name)).sort();
}

describe('weir', () => {
  it('loads none of the packages with which the service serves, nor those for flow files, to declare all its commands', async () => {
    assert.deepEqual(await loadedBy(['help']), []);
  });

  for (const args of [
    ['run', 'a/b/c', '--message', 'm', '--follow'],
    ['runs', 'list', '--min-cost', '1'],
    ['runs', 'retry', '--failed', '--flow', 'a/b/c'],
    ['flow', 'list', 'a/b'],
    ['usage', 'a'],
    ['operator', 'runs', 'stuck'],
  ])
    it(`loads none of them to call the service: weir ${args.join(' ')}`, async () => {
      assert.deepEqual(await loadedBy(args), []);
    });

  it('loads of them what a command uses', async () => {
    assert.deepEqual(await loadedBy(['flow', 'push', '/nonexistent']), ['acorn', 'yaml']);
    assert.deepEqual(await loadedBy(['flow', 'check', '/nonexistent']), ['acorn', 'yaml']);
    assert.ok((await loadedBy(['operator', 'create', '--name', 'x'])).includes('kysely'));
  });
});
