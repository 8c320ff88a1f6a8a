// What a signal does to a command, sent to its own process as a supervisor does, not to the whole terminal.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { processStartTime } from '../../dev/processes/end-process.ts';
import { createTestDatabase } from '../db/test-database.ts';
import { waitUntil } from '../wait-until.ts';
import { ROOT } from './cli-harness.ts';

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof CODES;

/** Makes weir.js start the Node of the checkout, as it does under an older one. */
const OLDER_NODE = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });`;
const LAUNCHED = [`--import=data:text/javascript,${encodeURIComponent(OLDER_NODE)}`];

const TEST_RUN = '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11';

describe('weir, when a signal ends it', () => {
  let service: Server;
  let folder: string;
  let url: string;
  let requests: string[];
  /** Resolves when the command polls. */
  let polled: PromiseWithResolvers<void>;
  let connections: number;
  let disconnected: PromiseWithResolvers<void>;
  before(async () => {
    service = createServer((request: IncomingMessage, response) => {
      requests.push(`${request.method} ${request.url}`);
      const answer = (body: object) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const run = { test_run_id: TEST_RUN, status: 'started', total: 1, passed: 0, cost: 0, results: [] };
      const named = { id: 'i', slug: 'o', name: 'O' };
      if (request.url === '/api/v1/me')
        answer({
          kind: 'api_key',
          keyId: 'k',
          name: 'k',
          environment: 'live',
          organization: named,
          project: named,
        });
      else if (request.url?.startsWith('/api/v1/projects/i/flows?'))
        answer({ flows: [{ ...named, projectId: 'i', slug: 'f' }], hasMore: false, nextCursor: null });
      else if (request.url?.endsWith('/cancel')) answer(run);
      else if (request.url?.includes('/test-runs')) {
        if (request.method === 'GET') polled.resolve();
        answer(run);
      } else {
        if (request.method === 'GET') polled.resolve();
        answer({ executionId: TEST_RUN, status: 'started', durationMs: null, cost: 0, blocks: [] });
      }
    });
    service.on('connection', (socket) => {
      connections += 1;
      socket.on('close', () => {
        connections -= 1;
        if (connections === 0) disconnected.resolve();
      });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    folder = mkdtempSync(path.join(tmpdir(), 'weir-signal-'));
  });
  beforeEach(() => {
    requests = [];
    connections = 0;
    polled = Promise.withResolvers();
    disconnected = Promise.withResolvers();
  });
  after(() => {
    service.close();
    service.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  function start(args: string[], options: string[] = [], env: { [name: string]: string } = {}) {
    const child = spawn(process.execPath, [...options, path.join(ROOT, 'cli/weir.js'), ...args], {
      env: {
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        XDG_CONFIG_HOME: folder,
        WEIR_URL: url,
        WEIR_API_KEY: 'k',
        ...env,
      },
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        said[name] += chunk;
      });
    const ended = new Promise<[code: number | null, stderr: string]>((resolve) =>
      child.on('close', (code) => resolve([code, said.stderr])),
    );
    return { child, said, ended };
  }

  for (const signal of Object.keys(CODES) as Signal[])
    for (const [how, options] of [
      ['under its own Node', []],
      ['in the Node that weir.js starts, which ends with it', LAUNCHED],
    ] as const)
      it(`ends run --follow on ${signal}, ${how}, and says that the run goes on`, async () => {
        const { child, ended } = start(['run', 'o/o/f', '--message', 'hi', '--follow'], [...options]);
        await polled.promise;
        child.kill(signal);
        const [code, stderr] = await ended;
        assert.deepEqual(
          [code, stderr],
          [
            CODES[signal],
            `The run goes on: weir runs show ${TEST_RUN} shows it, weir runs cancel ${TEST_RUN} ends it.\n`,
          ],
        );
        await disconnected.promise;
      });

  it('leaves no process behind when weir.js is killed', async () => {
    const { child, ended } = start(['run', 'o/o/f', '--message', 'hi', '--follow'], LAUNCHED);
    await polled.promise;
    child.kill('SIGKILL');
    // The child has the same output: it is closed once both have ended.
    await ended;
    await disconnected.promise;
  });

  it('cancels the test run of weir test, and says so', async () => {
    const { child, ended } = start(['test', 'o/o/f']);
    await polled.promise;
    child.kill('SIGTERM');
    const [code, stderr] = await ended;
    assert.deepEqual([code, stderr], [143, `The test run ${TEST_RUN} is being cancelled.\n`]);
    assert.equal(requests.at(-1), `POST /api/v1/test-runs/${TEST_RUN}/cancel`);
  });

  it('ends weir backup with its pg_dump, and deletes the unfinished file', async () => {
    const database = await createTestDatabase();
    const [program, pid] = [path.join(folder, 'pg_dump'), path.join(folder, 'pid')];
    const script = `[ "$1" = --version ] && echo 'pg_dump (PostgreSQL) 99.0' && exit\necho $$ > ${pid}.new && mv ${pid}.new ${pid}; exec sleep 999`;
    writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    try {
      const env = { DATABASE_URL: database.url, PATH: `${folder}:${process.env.PATH}` };
      const { child, ended } = start(['backup', path.join(folder, 'weir.dump')], [], env);
      await waitUntil(() => existsSync(pid));
      assert.ok(existsSync(path.join(folder, 'weir.dump.partial')));
      child.kill('SIGTERM');
      assert.equal((await ended)[0], 143);
      assert.equal(existsSync(path.join(folder, 'weir.dump.partial')), false);
      await waitUntil(() => processStartTime(Number(readFileSync(pid, 'utf8'))) === undefined);
    } finally {
      await database.drop();
    }
  });

  it('ends weir listen, which then listens no more', async () => {
    const { child, said, ended } = start(['listen', '--http', '--port', '0', '--secret', 'whsec_eA==']);
    const listening = await waitUntil(() => /http:\S+\d(?=;)/.exec(said.stdout)?.[0]);
    child.kill('SIGTERM');
    assert.equal((await ended)[0], 143);
    await assert.rejects(fetch(listening), /fetch failed/);
  });
});
