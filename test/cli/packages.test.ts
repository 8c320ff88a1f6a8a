import assert from 'node:assert/strict';
import { spawnWeir } from './cli-harness.ts';

/** Prints the packages that a program has loaded, once it ends. */
const LISTING = `import { registerHooks } from 'node:module';
const packages = new Set();
registerHooks({ load(url, context, next) {
  packages.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]);
  return next(url, context);
} });
process.on('exit', () => console.error(JSON.stringify([...packages])));`;

describe('weir', () => {
  it('loads none of the packages with which the service serves: each of its commands starts anew', async () => {
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(LISTING)}`;
    const { stderr } = await spawnWeir({ NODE_OPTIONS }, ['--help']);
    const loaded: string[] = JSON.parse(stderr);
    assert.ok(loaded.includes('commander'), stderr);
    const serving = [
      'koa',
      'oidc-provider',
      'jose',
      'openai',
      'undici',
      '@temporalio/client',
      '@temporalio/worker',
    ];
    assert.deepEqual(
      serving.filter((name) => loaded.includes(name)),
      [],
    );
  });
});
