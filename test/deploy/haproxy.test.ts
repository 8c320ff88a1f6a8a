import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findAnyFreePort } from '../../platform/observability/find-any-free-port.ts';
import { createAuthority } from '../certificates.ts';
import { waitUntil } from '../wait-until.ts';
import { describeWith } from '../where-available.ts';

const FILE = path.join(import.meta.dirname, '../../deploy/proxies/haproxy.cfg');
const HOST = 'weir.example';
/** Longer than the pause between two checks, and shorter than a check may take. */
const SLOW_CHECK_MS = 2_500;

describeWith(['haproxy', 'openssl'], 'deploy/proxies/haproxy.cfg', () => {
  const { pem: ca, issue } = createAuthority();
  let apis: Api[];
  let folder: string;
  let port: number;
  let haproxy: ReturnType<typeof spawn>;

  before(async () => {
    apis = [await startApi('one'), await startApi('two')];
    folder = await mkdtemp(path.join(tmpdir(), 'weir-haproxy-'));
    port = await findAnyFreePort();
    const { cert, key } = issue([HOST]);
    await writeFile(path.join(folder, 'weir.pem'), cert + key);
    const config = (await readFile(FILE, 'utf8'))
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      .replace('/etc/haproxy/weir.pem', path.join(folder, 'weir.pem'))
      .replace(
        /^ +server .*$/m,
        apis.map(({ name, port }) => `    server ${name} 127.0.0.1:${port}`).join('\n'),
      );
    await writeFile(path.join(folder, 'haproxy.cfg'), config);
    haproxy = spawn('haproxy', ['-db', '-f', path.join(folder, 'haproxy.cfg')], { stdio: 'ignore' });
    await waitUntil(() => isListening(port));
  });
  after(async () => {
    if (haproxy?.kill('SIGKILL')) await once(haproxy, 'exit');
    for (const api of apis ?? []) api.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  const post = async (url: string, body = '{}'): Promise<IncomingMessage> => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.1' };
    const sent = request({
      host: '127.0.0.1',
      port,
      path: url,
      method: 'POST',
      ca,
      servername: HOST,
      headers,
    });
    const [response] = await once(sent.end(body), 'response');
    return response;
  };
  /** Which process answers each of several requests. */
  const askAll = async () => {
    const responses = await Promise.all(Array.from({ length: 6 }, () => post('/')));
    for (const response of responses) response.resume();
    return responses.map(({ headers }) => headers.from);
  };

  it('passes the whole body on, and appends the address of the caller to X-Forwarded-For', async () => {
    const body = 'x'.repeat(9_000_000);
    const { bytes, forwarded } = JSON.parse((await readAll(await post('/', body))) || '{}');
    assert.equal(bytes, body.length);
    assert.match(forwarded, /^192\.0\.2\.1, ?127\.0\.0\.1$/);
  });

  it('passes each event of a stream on while the stream is open', async () => {
    const stream = await post('/stream');
    const [event] = await once(stream, 'data');
    assert.equal(String(event), 'data: first\n\n');
    stream.destroy();
  });

  it('takes a process out of rotation while its /readyz is not 200', async () => {
    const [one] = apis as [Api];
    one.status = 503;
    await waitUntil(async () => (await askAll()).every((from) => from === 'two'));
    one.status = 200;
    await waitUntil(async () => (await askAll()).includes('one'));
  });

  it('keeps a process in rotation whose check takes more than two seconds', async () => {
    const [one, two] = apis as [Api, Api];
    two.status = 503;
    one.checkMs = SLOW_CHECK_MS;
    const before = one.checks;
    await waitUntil(() => one.checks >= before + 3);
    assert.ok((await askAll()).every((from) => from === 'one'));
    two.status = 200;
    await waitUntil(async () => (await askAll()).includes('two'));
  });

  it('asks another process when one refuses the connection', async () => {
    const [one] = apis as [Api];
    one.stop();
    assert.deepEqual(new Set(await askAll()), new Set(['two']));
  });
});

/** An API process: its answers name it. */
type Api = {
  name: string;
  port: number;
  /** Status of its /readyz. */
  status: number;
  /** Time that an answer of /readyz takes. */
  checkMs: number;
  /** How many checks were answered. */
  checks: number;
  stop(): void;
};

async function startApi(name: string): Promise<Api> {
  const server = createServer(async (request, response) => {
    if (request.url === '/readyz') {
      await sleep(api.checkMs);
      api.checks += 1;
      return void response.writeHead(api.status).end();
    }
    response.setHeader('from', name);
    if (request.url === '/stream') return void response.write('data: first\n\n');
    const { length: bytes } = await readAll(request);
    response.end(JSON.stringify({ bytes, forwarded: request.headers['x-forwarded-for'] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  const { port } = server.address() as AddressInfo;
  const api: Api = { name, port, status: 200, checkMs: 0, checks: 0, stop };
  return api;
}

async function readAll(stream: IncomingMessage): Promise<string> {
  return Buffer.concat(await stream.toArray()).toString();
}

function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
