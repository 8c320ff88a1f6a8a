import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type OperatorServer, serveOperators } from '../../../platform/observability/operator-server.ts';

const MODULE = new URL('../../../platform/observability/operator-server.ts', import.meta.url).href;
/** More than the server keeps open. */
const STRANGERS = 60;

describe('the server of metrics and health', () => {
  let server: OperatorServer;
  const sockets: Socket[] = [];
  before(async () => {
    server = await serveOperators(
      { host: '127.0.0.1', port: 0, variable: 'WEIR_METRICS_PORT' },
      {
        '/metrics': async () => ({ type: 'text/plain', body: 'all is well' }),
        '/never': () => new Promise(() => undefined),
      },
    );
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(() => server.close());

  async function sendFromStrangers(text: string): Promise<void> {
    for (let count = 0; count < STRANGERS; count += 1) {
      const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      await once(socket, 'connect');
      if (text) socket.write(text);
    }
  }

  for (const [title, text] of [
    ['connect and say nothing', ''],
    ['wait for answers', 'GET /never HTTP/1.1\r\nHost: weir\r\n\r\n'],
  ] as const)
    it(`answers while strangers ${title}`, async () => {
      await sendFromStrangers(text);
      const response = await fetch(`http://127.0.0.1:${server.port}/metrics`);
      assert.equal(await response.text(), 'all is well');
    });

  it('does not keep a process from ending whose work has failed', async () => {
    const program = `
      import { serveOperators } from ${JSON.stringify(MODULE)};
      await serveOperators({ host: '127.0.0.1', port: 0, variable: 'WEIR_METRICS_PORT' }, {});
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});
