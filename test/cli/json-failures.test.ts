import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fail, weirIn } from './cli-harness.ts';

describe('weir with --json', () => {
  let service: Server;
  let answer: { status: number; body: unknown };
  let url: string;
  before(async () => {
    service = createServer((_request, response) =>
      response
        .writeHead(answer.status, {
          'content-type': 'application/json',
          'x-request-id': 'r-1',
          ...(answer.status === 503 && { 'retry-after': '7' }),
        })
        .end(JSON.stringify(answer.body)),
    );
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  });
  after(() => service.close());

  /** Runs a command that fails; returns what its only line on stderr has. */
  async function failure(code: number, env: { [name: string]: string }, ...args: string[]) {
    const said = await fail(code, weirIn({ WEIR_STATE_DIR: '/nonexistent', ...env }, [...args, '--json']));
    assert.match(said, /^\{.*\}\n$/);
    const { detail, ...others } = JSON.parse(said);
    assert.deepEqual(others, {});
    return detail;
  }

  const wrongly: [args: string[], message: RegExp][] = [
    [['nosuch'], /^unknown command 'nosuch'/],
    [['whoami', '--nosuch'], /^unknown option '--nosuch'$/],
    [['whoami', 'more'], /^too many arguments/],
    [['runs', 'show'], /^missing required argument 'executionId'$/],
    [['runs', 'list', '--limit', '0'], /'--limit <number>' argument '0' is invalid\. Give a whole number/],
    [['flow', 'delete', 'a/b/c', '--confirm', 'd'], /^Nothing was deleted: --confirm must be c\.$/],
    [['operator', 'org'], /option '--json'|A command is missing/],
    [['help', 'nosuch'], /option '--json'/],
  ];
  for (const [args, message] of wrongly)
    it(`says as JSON on stderr how it was called wrongly: weir ${args.join(' ')}`, async () => {
      const detail = await failure(2, {}, ...args);
      assert.deepEqual(Object.keys(detail), ['code', 'message']);
      assert.equal(detail.code, 'USAGE_ERROR');
      assert.match(detail.message, message);
    });

  it('says so, too, that no service is known, that nobody is signed in, and that the service is away', async () => {
    const unknown = await failure(1, {}, 'whoami');
    assert.equal(unknown.code, 'VALIDATION_ERROR');
    assert.match(unknown.message, /^No service is known\./);
    const anonymous = await failure(1, { WEIR_URL: url }, 'whoami');
    assert.equal(anonymous.code, 'UNAUTHENTICATED');
    const away = await failure(1, { WEIR_URL: 'http://127.0.0.1:9', WEIR_API_KEY: 'k' }, 'whoami');
    assert.equal(away.code, 'UNREACHABLE');
    assert.match(away.message, /^Weir cannot be reached at http:\/\/127\.0\.0\.1:9: /);
    assert.equal((await failure(1, {}, 'flow', 'push', 'none.yaml')).code, 'VALIDATION_ERROR');
  });

  it('keeps the code, message and all fields of a refusal of the service, and adds the request id', async () => {
    const env = { WEIR_URL: url, WEIR_API_KEY: 'k' };
    const problems = [{ path: 'steps[0]', message: 'no' }];
    answer = { status: 400, body: { detail: { code: 'INVALID_TREE', message: 'Not valid.', problems } } };
    assert.deepEqual(await failure(1, env, 'run', 'a/b/c', '--message', 'm'), {
      problems,
      code: 'INVALID_TREE',
      message: 'Not valid.',
      request_id: 'r-1',
    });
    const away = { code: 'ENGINE_UNAVAILABLE', message: 'Away.', executionId: 'e' };
    answer = { status: 503, body: { detail: away } };
    assert.deepEqual(await failure(1, env, 'run', 'a/b/c', '--message', 'm'), {
      ...away,
      request_id: 'r-1',
      retry_after_seconds: 7,
    });
    answer = { status: 422, body: { detail: { code: 'OF_A_NEWER_SERVICE', message: 'No.' } } };
    assert.equal((await failure(1, env, 'run', 'a/b/c', '--message', 'm')).code, 'OF_A_NEWER_SERVICE');
    answer = { status: 200, body: 'hello' };
    assert.equal((await failure(1, env, 'whoami')).code, 'UNREACHABLE');
  });

  it('prints notices as lines of JSON', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'weir-json-'));
    const env = { WEIR_URL: url, WEIR_API_KEY: 'k', WEIR_STATE_DIR: folder, XDG_CONFIG_HOME: folder };
    const { code, stderr } = await weirIn(env, ['logout', '--json']).finally(() =>
      rm(folder, { recursive: true }),
    );
    const note = 'Commands go on with WEIR_API_KEY, which is set.';
    assert.deepEqual([code, stderr], [0, `${JSON.stringify({ note })}\n`]);
  });
});
