import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir', () => {
  let folder: string;
  const env = () => ({ WEIR_STATE_DIR: folder });
  const weir = (...args: string[]) => weirIn(env(), args);
  async function succeed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await weir(...args);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout;
  }

  describe('run', () => {
    const block = (key: string) => ({
      step_id: key,
      key,
      name: key.toUpperCase(),
      status: 'completed',
      attempts: 1,
      model: null,
      usage: { promptTokens: 1, completionTokens: 2, cost: 0.5, ms: 9 },
    });
    const requests: { [field: string]: unknown }[] = [];
    let answers: { status: number; body: unknown }[] = [];
    const server = createServer(async (request: IncomingMessage, response) => {
      requests.push({
        method: request.method,
        url: request.url,
        authorization: request.headers.authorization,
        ...(request.headers['idempotency-key'] && { key: request.headers['idempotency-key'] }),
        ...(request.method === 'POST' && { body: await json(request) }),
      });
      const { status, body } = answers.shift() ?? { status: 500, body: 'no more answers' };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    before(async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const local = { WEIR_URL: `http://127.0.0.1:${port}`, WEIR_API_KEY: 'weir_live_local' };
      folder = await mkdtemp(path.join(tmpdir(), 'weir-run-'));
      await writeFile(path.join(folder, 'env.json'), JSON.stringify(local));
    });
    beforeEach(() => requests.splice(0));
    after(async () => {
      server.close();
      await rm(folder, { recursive: true });
    });

    const start = { status: 202, body: { executionId: 'id', status: 'started', flowId: 'f', blockCount: 2 } };
    const state = { durationMs: 20, cost: 1, blocks: [block('a'), block('b')] };

    it('asks whether a service is Weir that refuses in other words', async () => {
      answers = [{ status: 404, body: { detail: 'Not Found' } }];
      const said = await fail(1, weir('run', 'o/p/f', '--message', 'hi'));
      assert.match(said, /answered 404\. Is WEIR_URL the address of a Weir service\?/);
    });

    it('prints no control characters of the service', async () => {
      const name = 'A\u001b[2J\u009b2J';
      const under = { key: 'b', name, status: 'running', attempts: 1 };
      answers = [
        start,
        { status: 200, body: { ...state, status: 'started', blocks: [], blocksUnderWay: [under] } },
        { status: 200, body: { ...state, status: 'completed', result: name } },
        { status: 400, body: { detail: { code: 'VALIDATION_ERROR', message: name } } },
      ];
      const out = await succeed('run', 'o/p/f', '--message', 'hi', '--follow');
      assert.match(out, /running b/);
      assert.match(out, /\n"A\\u001b\[2J\\u009b2J"\n$/);
      const refused = await fail(1, weir('run', 'o/p/f', '--message', 'hi'));
      assert.match(refused, /^A/);
      assert.doesNotMatch(out + refused, /[\p{Cc}--\n]/v);
    });

    it('starts a run with the local key and follows it through an outage, each block once', async () => {
      answers = [
        start,
        { status: 200, body: { ...state, status: 'started', blocks: [block('a')] } },
        { status: 503, body: { detail: { code: 'ENGINE_UNAVAILABLE', message: 'away' } } },
        { status: 200, body: { ...state, status: 'completed', result: { answer: 42 } } },
      ];
      const out = await succeed(
        'run',
        'o/p/f',
        '--message',
        'hi',
        '--parameters',
        '{"a":1}',
        '--version',
        '3',
        '--follow',
      );
      assert.deepEqual(out.split('\n').slice(0, 4), [
        'Started id.',
        'completed a (A) 9 ms, 3 tokens, 0.5 credits',
        'completed b (B) 9 ms, 3 tokens, 0.5 credits',
        'Completed in 20 ms, 1 credits:',
      ]);
      assert.deepEqual(requests[0], {
        method: 'POST',
        url: '/api/v1/seq/o/p/f/v3/jobs',
        authorization: 'Bearer weir_live_local',
        body: { message: 'hi', parameters: { a: 1 } },
      });
      assert.equal(requests[3]?.url, '/api/v1/seq/o/p/f/v3/jobs/id');
    });

    it('prints a line for each note about the cost, before the result', async () => {
      const notes = ['demo/x is in no list of models.', 'demo/y\u001b is in no list of models.'];
      answers = [start, { status: 200, body: { ...state, status: 'completed', result: 1, notes } }];
      const out = await succeed('run', 'o/p/f', '--message', 'hi', '--follow');
      assert.deepEqual(out.split('\n').slice(3, 6), [
        'note: demo/x is in no list of models.',
        'note: demo/y\u{fffd} is in no list of models.',
        'Completed in 20 ms, 1 credits:',
      ]);
    });

    it('prints a line for a block that takes long or was refused, once for each attempt', async () => {
      const under = (more: object) => ({
        ...state,
        status: 'started',
        blocks: [],
        blocksUnderWay: [{ key: 'a', name: 'A', status: 'running', attempts: 1, ...more }],
      });
      const refused = { status: 'retrying', errorMessage: 'busy', nextAttemptAt: '2030-01-01T00:00:00.000Z' };
      const again = { attempts: 2, errorMessage: 'busy' };
      answers = [
        start,
        ...[under({}), under({}), under(refused), under(again)].map((body) => ({ status: 200, body })),
        { status: 200, body: { ...state, status: 'completed', result: 1 } },
      ];
      const out = await succeed('run', 'o/p/f', '--message', 'hi', '--follow');
      assert.deepEqual(out.split('\n').slice(1, 5), [
        'running a (A)',
        'retrying a (A), attempt 1 failed, the next is at 2030-01-01T00:00:00.000Z: busy',
        'running a (A), attempt 2',
        'completed a (A) 9 ms, 3 tokens, 0.5 credits',
      ]);
    });

    it('sends a request from a file, in which options replace fields, under an idempotency key', async () => {
      const file = path.join(folder, 'request.json');
      const overrides = { a: { temperature: 0 } };
      await writeFile(file, JSON.stringify({ message: 'file', parameters: { b: 2 }, maxCredits: 9 }));
      const options = [
        '--max-credits',
        '1.5',
        '--idempotency-key',
        'k-1',
        '--callback-url',
        'https://h.example/',
      ];
      for (const [step, fields] of Object.entries(overrides))
        options.push('--override', `${step}=${JSON.stringify(fields)}`);
      answers = [start];
      await succeed('run', 'o/p/f', '--file', file, ...options, '--override', 'c={"model":"x=y"}');
      assert.deepEqual(requests[0], {
        method: 'POST',
        url: '/api/v1/seq/o/p/f/jobs',
        authorization: 'Bearer weir_live_local',
        key: 'k-1',
        body: {
          message: 'file',
          parameters: { b: 2 },
          maxCredits: 1.5,
          callbackUrl: 'https://h.example/',
          block_overrides: { ...overrides, c: { model: 'x=y' } },
        },
      });
    });

    it('reads the request from standard input, and says what is wrong with one', async () => {
      answers = [start];
      const { code } = await weirIn(env(), ['run', 'o/p/f', '--file', '-'], '{"message":"in"}');
      assert.deepEqual([code, requests[0]?.body], [0, { message: 'in' }]);
      const refused = weirIn(env(), ['run', 'o/p/f', '--file', '-'], '[]');
      assert.match(await fail(1, refused), /^- is not a request: Give a JSON object/);
      const changed = weirIn(env(), ['run', 'o/p/f', '--file', '-'], '{"parameters":{"n":1e400}}');
      assert.match(await fail(1, changed), /^- is not a request: A number is too large for JSON/);
      assert.match(await fail(1, weir('run', 'o/p/f', '--file', 'nowhere.json')), /the file does not exist/);
      assert.match(await fail(2, weir('run', 'o/p/f')), /Give --message, or --file/);
    });

    it('exits with 1 when the run fails, and prints only its state as JSON', async () => {
      answers = [start, { status: 200, body: { ...state, status: 'failed', errorMessage: 'broken' } }];
      const { code, stdout } = await weir('run', 'o/p/f', '--message', 'hi', '--follow', '--json');
      assert.equal(code, 1);
      assert.equal(JSON.parse(stdout).errorMessage, 'broken');
    });

    it('prints why the API refused', async () => {
      answers = [
        { status: 404, body: { detail: { code: 'FLOW_NOT_FOUND', message: 'There is no such flow.' } } },
      ];
      const stderr = await fail(1, weir('run', 'o/p/f', '--message', 'hi'));
      assert.equal(stderr, 'There is no such flow. (FLOW_NOT_FOUND)\n');
      assert.match(
        await fail(2, weir('run', 'o/p/f', '--message', 'hi', '--parameters', '[1]')),
        /JSON object/,
      );
    });

    it('never sends the local key to a service named in WEIR_URL', async () => {
      const elsewhere = { ...env(), WEIR_URL: 'http://127.0.0.1:9' };
      const stderr = await fail(1, weirIn(elsewhere, ['run', 'o/p/f', '--message', 'hi']));
      assert.match(stderr, /^You are not signed in to the service at http:\/\/127\.0\.0\.1:9\. Sign in/);
    });

    it('says what to do about a service that cannot be reached, and about a wrong path', async () => {
      const away = { ...env(), WEIR_URL: 'http://127.0.0.1:9', WEIR_API_KEY: 'k' };
      const unreached = await fail(1, weirIn(away, ['run', 'o/p/f', '--message', 'hi']));
      assert.match(unreached, /^Weir cannot be reached at .*Start it, or correct WEIR_URL\.\n$/);
      assert.match(
        await fail(2, weirIn(away, ['run', 'f', '--message', 'hi'])),
        /"f" is not the path of a flow/,
      );
    });
  });
});
