// The checks of weir doctor that need no service.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import {
  checkClock,
  checkDisk,
  checkSandbox,
  describeConfinement,
  describeRoom,
} from '../../../cli/doctor/check-machine.ts';
import { checkIdentity, checkWebhooks } from '../../../cli/doctor/check-network.ts';
import { runCheck, warning } from '../../../cli/doctor/finding.ts';
import type { Config } from '../../../platform/config/config.ts';

/** Was valid in January 2020. */
const EXPIRED = `-----BEGIN CERTIFICATE-----
MIIBDDCBsgIBATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdleHBpcmVkMB4XDTIw
MDEwMTAwMDAwMFoXDTIwMDIwMTAwMDAwMFowEjEQMA4GA1UEAwwHZXhwaXJlZDBZ
MBMGByqGSM49AgEGCCqGSM49AwEHA0IABHc05yMdFTVvFqzlej7nRR8W5tdeENO5
iG04beuHaB+Pp88WKcNIe56l5X/7F/RV0+pDye2rfuYXiiBtEkY7F5swCgYIKoZI
zj0EAwIDSQAwRgIhAI51rafHpmiWX+1XmWkQuLnUQNXhLq29LImDxu9cWB5pAiEA
iw6UkpeMxv6avetJ/dADz1ceIXSn9mmuRJVQr1Hyemw=
-----END CERTIFICATE-----
`;

describe('weir doctor looks at', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-doctor-test-'));
  const signal = new AbortController().signal;
  after(() => rmSync(folder, { recursive: true }));

  describe('a clock', () => {
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
    const statesOf = (at: Date, takenMs = 0) =>
      checkClock('the database', at, takenMs).map(({ state }) => state);

    it('that agrees, and finds nothing', () => assert.deepEqual(statesOf(ago(0)), []));

    it('that differs by some seconds, and warns, whichever is ahead', () => {
      assert.deepEqual([statesOf(ago(20)), statesOf(ago(-20))], [['warning'], ['warning']]);
      const [found] = checkClock('the database', ago(20), 0);
      assert.match(
        found?.message ?? '',
        /^The clock of this machine and that of the database are \d+ s apart\.$/,
      );
      assert.match(found?.mend ?? '', /NTP/);
    });

    it('that differs by minutes, which is an error', () => assert.deepEqual(statesOf(ago(300)), ['error']));

    it('that took long to read, and does not count that time', () => {
      assert.deepEqual(statesOf(ago(20), 30_000), []);
    });
  });

  describe('what does not answer, and', () => {
    const never = new Promise<never>(() => undefined);

    it('says so', async () => {
      const [found, ...more] = await runCheck({ name: 'engine', look: () => never }, 20);
      assert.equal(found?.message, 'This could not be looked at: nothing answered within 0.02 s.');
      assert.deepEqual(more, []);
    });

    it('keeps what was found until then', async () => {
      const found = await runCheck(
        {
          name: 'database',
          look: (_, found) => {
            found.push(warning('It is old.', 'Replace it.'));
            return never;
          },
        },
        20,
      );
      assert.deepEqual(
        found.map(({ check, message }) => [check, message]),
        [
          ['database', 'It is old.'],
          ['database', 'The rest could not be looked at: nothing answered within 0.02 s.'],
        ],
      );
    });
  });

  describe('folders', () => {
    it('that can be written, says how much room they have, and leaves nothing in them', async () => {
      const found = await checkDisk(folder);
      assert.equal(found.length, 2);
      assert.match(found[1]?.message ?? '', /weir-doctor-test-\w+ has \d+\.\d GB free\.$/);
      assert.deepEqual(readdirSync(folder), []);
    });

    for (const [free, state, mend] of [
      [2 * 1024 ** 3, 'ok', undefined],
      [2 * 1024 ** 3 - 1, 'warning', 'Free or add disk space soon.'],
      [200 * 1024 ** 2, 'warning', 'Free or add disk space soon.'],
      [200 * 1024 ** 2 - 1, 'error', 'Free or add disk space.'],
    ] as const)
      it(`that have ${free} bytes of room are: ${state}`, () => {
        const found = describeRoom('/tmp', free);
        assert.deepEqual([found.state, found.mend], [state, mend]);
      });

    it('that cannot be written, which is an error', async () => {
      const [, found] = await checkDisk('/nonexistent/state');
      assert.equal(found?.state, 'error');
      assert.match(found?.message ?? '', /^\/nonexistent\/state cannot be written: /);
    });
  });

  describe('processes of user code', () => {
    const NETWORK = ['unshare', '--net'];
    const PRIVILEGES = ['setpriv', '--no-new-privs'];
    const describeWith = (...args: string[]) => {
      const [{ state, message } = { state: '', message: '' }] = describeConfinement({
        file: '/bin/sh',
        args,
      });
      return [state, message] as const;
    };

    it('that are confined, and is content', () => {
      assert.equal(describeWith(...NETWORK, ...PRIVILEGES)[0], 'ok');
    });

    it('that keep their network, or may get privileges, and names which', () => {
      const [state, message] = describeWith(...PRIVILEGES);
      assert.equal(state, 'warning');
      assert.match(message, /network/);
      assert.doesNotMatch(message, /privileges denied/);
      assert.match(describeWith(...NETWORK)[1], /cannot have new privileges denied/);
      assert.match(describeWith()[1], /network taken away .*, nor new privileges denied/);
    });

    it('as they are here', async () => {
      const [found, ...more] = await checkSandbox();
      assert.ok(found && found.state !== 'error');
      assert.deepEqual(more, []);
    });
  });

  describe('the identity provider', () => {
    const look = async (issuer: string) => {
      const oidc = { issuer, audience: 'a', mcpAudience: 'a' } as Config['oidc'];
      return (await checkIdentity({ oidc }, signal))[0]?.message ?? '';
    };

    it('that cannot be reached, and says why', async () => {
      const server = createHttpServer((_, response) => response.writeHead(302, { location: '/' }).end());
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      assert.match(await look(`http://127.0.0.1:${port}`), /cannot be used: unexpected redirect\.$/);
      server.close();
      await once(server, 'close');
      assert.match(await look(`http://127.0.0.1:${port}`), /cannot be used: the connection was refused\.$/);
      assert.match(await look('http://127.0.0.1:1'), /cannot be used: bad port\.$/);
    });
  });

  describe('the way out of webhooks', () => {
    const certificates = (name: string, text: string) => {
      const webhookCaFile = path.join(folder, name);
      writeFileSync(webhookCaFile, text);
      return checkWebhooks({ webhookCaFile, egressProxy: undefined }, signal);
    };
    const proxy = (port: number) =>
      checkWebhooks(
        { webhookCaFile: undefined, egressProxy: new URL(`http://me:a-secret@127.0.0.1:${port}`) },
        signal,
      );

    it('without a proxy or certificates of its own, and is content', async () => {
      const [found] = await checkWebhooks({ webhookCaFile: undefined, egressProxy: undefined }, signal);
      assert.equal(found?.state, 'ok');
    });

    it('with certificates, every one of a file', async () => {
      const [valid = ''] = rootCertificates;
      assert.equal((await certificates('valid', valid))[0]?.state, 'ok');
      for (const text of [EXPIRED, `${valid}\n${EXPIRED}`]) {
        const [found] = await certificates('expired', text);
        assert.equal(found?.state, 'error');
        assert.match(found?.message ?? '', /expired on 2020-02-01T/);
      }
      const [found] = await certificates('text', 'not a certificate');
      assert.match(found?.message ?? '', /^WEIR_WEBHOOK_CA_FILE \(.*text\) cannot be used: /);
    });

    it('with a file that is not there', async () => {
      const [found] = await checkWebhooks(
        { webhookCaFile: '/nonexistent/ca', egressProxy: undefined },
        signal,
      );
      assert.equal(found?.state, 'error');
    });

    it('with a proxy, whether it takes connections, and tells no password', async () => {
      const server = createServer((socket) => socket.on('error', () => undefined).end());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const answering = await proxy(port);
      server.close();
      await once(server, 'close');
      const gone = await proxy(port);
      assert.deepEqual([answering[0]?.state, gone[0]?.state], ['ok', 'error']);
      assert.match(
        gone[0]?.message ?? '',
        new RegExp(`The egress proxy 127\\.0\\.0\\.1:${port} does not answer`),
      );
      assert.doesNotMatch(JSON.stringify([answering, gone]), /a-secret/);
    });
  });
});
