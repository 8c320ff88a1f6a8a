import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { findFreePort } from '../../dev/processes/ports.ts';
import { isFromWeir } from '../../examples/webhooks/verify.ts';
import type { Received, WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';

const FOLDER = path.join(import.meta.dirname, '..', '..', 'examples', 'webhooks');
const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;
const PYTHON = `
import base64, json, sys
from verify import is_from_weir
case = json.load(sys.stdin)
print(is_from_weir(base64.b64decode(case["body"]), case["signature"], case["secret"], case["now"]))`;

type Verify = (body: Buffer, signature: string, secret: string, now?: number) => boolean;
const verifiers: { [language: string]: Verify } = {
  TypeScript: isFromWeir,
  Python(body, signature, secret, now = Date.now() / 1_000) {
    const input = JSON.stringify({ body: body.toString('base64'), signature, secret, now });
    const output = execFileSync('python3', ['-B', '-c', PYTHON], { cwd: FOLDER, input, encoding: 'utf8' });
    return output.trim() === 'True';
  },
};

describeWith(['openssl'], 'the verifiers of examples/webhooks', () => {
  let weir: WebhookWeir;
  let delivered: Received;
  let signature: string;
  let secrets: { previous: string; current: string; other: string };
  before(async () => {
    weir = await startWebhookWeir();
    const hook = weir.hooks[0] as WebhookReceiver;
    const tenant = await weir.createTenant();
    const [previous, current] = [await weir.rotate(tenant), await weir.rotate(tenant)];
    secrets = { previous, current, other: await weir.rotate(await weir.createTenant()) };
    await weir.startJob(tenant, await weir.createFlow(tenant, []), hook, { message: 'ä ☃ "' });
    await hook.arrived(1);
    delivered = hook.received[0] as Received;
    signature = String(delivered.headers['x-weir-signature']);
  });
  after(() => weir.stop());

  for (const [language, verify] of Object.entries(verifiers))
    describe(language, () => {
      if (language === 'Python' && !HAS_PYTHON) {
        it('is not tried: there is no python3', function () {
          this.skip();
        });
        return;
      }
      it('accepts a delivery by the current and the previous secret', () => {
        assert.equal(verify(delivered.body, signature, secrets.current), true);
        assert.equal(verify(delivered.body, signature, secrets.previous), true);
      });

      it('refuses another secret, another body and another time', () => {
        const now = Number(delivered.headers['x-weir-timestamp']);
        assert.equal(verify(delivered.body, signature, secrets.other), false);
        assert.equal(
          verify(Buffer.concat([delivered.body, Buffer.from(' ')]), signature, secrets.current),
          false,
        );
        assert.equal(verify(delivered.body, signature, secrets.current, now + 400), false);
        assert.equal(verify(delivered.body, signature, secrets.current, now - 400), false);
      });

      for (const nonsense of [
        '',
        't=',
        'v1=',
        'a,b,=',
        't=9e9,v1=00',
        `t=${Math.floor(Date.now() / 1_000)},v1=ä`,
      ])
        it(`refuses ${JSON.stringify(nonsense)}`, () =>
          assert.equal(verify(delivered.body, nonsense, secrets.current), false));
    });
});

describeWith(['python3'], 'the receivers of docs/webhooks.md', () => {
  const page = readFileSync(path.join(FOLDER, '../../docs/webhooks.md'), 'utf8');
  for (const [extension, command] of Object.entries({ ts: process.execPath, py: 'python3' }))
    it(`take what is signed, once, and refuse the rest: ${extension}`, async () => {
      const [, code = ''] = new RegExp(`\`\`\`${extension}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
      const folder = await mkdtemp(path.join(tmpdir(), 'weir-receiver-'));
      await copyFile(path.join(FOLDER, `verify.${extension}`), path.join(folder, `verify.${extension}`));
      const port = await findFreePort();
      const program = path.join(folder, `receiver.${extension}`);
      await writeFile(program, code.replace('3000', String(port)));
      const secret = 'whsec_secret';
      const child = spawn(command, [program], {
        cwd: folder,
        env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret, PYTHONUNBUFFERED: '1' },
      });
      const output = text(child.stdout);
      const body = JSON.stringify({ event: 'flow.completed', executionId: 'an-id', result: { topics: 2 } });
      const send = async (key: string) => {
        const timestamp = Math.floor(Date.now() / 1_000);
        const v1 = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex');
        const headers = { 'X-Weir-Signature': `t=${timestamp},v1=${v1}`, 'X-Weir-Delivery': 'one' };
        const post = () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
        return (await waitUntil(() => post().catch(() => undefined))).status;
      };
      try {
        assert.deepEqual(
          [await send('whsec_other'), await send(secret), await send(secret)],
          [401, 204, 204],
        );
      } finally {
        child.kill();
        await rm(folder, { recursive: true });
      }
      assert.equal((await output).match(/flow\.completed an-id/g)?.length, 1);
    });
});
