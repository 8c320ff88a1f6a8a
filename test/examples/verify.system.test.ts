import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { isFromWeir } from '../../examples/webhooks/verify.ts';
import type { Received, WebhookReceiver } from '../fakes/webhook-receiver.ts';
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
