import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silent } from '../../../dev/progress.ts';
import { downloadTemporal } from '../../../dev/temporal/binary.ts';

describe('the download of the Temporal binary', () => {
  const server = createServer((request, response) => answer(request, response));
  let answer: RequestListener = () => undefined;
  let folder = '';
  let url = '';

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'weir-download-'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const target = () => path.join(folder, 'cache', 'temporal');
  const download = () => downloadTemporal('1.2.3', target(), silent, url);

  it('is given up after 5 s without an answer', async () => {
    answer = () => undefined;
    await assert.rejects(download(), /no answer from 127\.0\.0\.1:\d+ within 5 s/);
  });

  it('says what the site answered', async () => {
    answer = (_, response) => void response.writeHead(404).end();
    await assert.rejects(download(), /answered 404/);
  });

  it('unpacks the file the site names and leaves nothing else behind, nor what an earlier one left', async () => {
    writeFileSync(path.join(folder, 'temporal'), 'the binary');
    // Left by a process that was killed long ago; no process has this number.
    const draft = path.join(folder, 'cache.99999999');
    mkdirSync(draft);
    utimesSync(draft, 0, 0);
    const archive = execFileSync('tar', ['-cz', '-C', folder, 'temporal']);
    answer = (request, response) => {
      if (request.url === '/archive') return void response.end(archive);
      assert.match(request.url ?? '', /^\/v1\.2\.3\?arch=\w+&platform=\w+&format=tar.gz$/);
      response.end(JSON.stringify({ archiveUrl: `${url}/archive`, fileToExtract: 'temporal' }));
    };
    assert.equal(await download(), target());
    assert.equal(readFileSync(target(), 'utf8'), 'the binary');
    assert.deepEqual(readdirSync(folder).sort(), ['cache', 'temporal']);
  });
});
