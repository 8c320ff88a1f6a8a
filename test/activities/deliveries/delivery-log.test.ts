import assert from 'node:assert/strict';
import { captureLog } from '../../capture-log.ts';
import { waitUntil } from '../../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';

describeWith(['openssl'], 'a line about a delivery', () => {
  let weir: WebhookWeir;
  before(async () => {
    weir = await startWebhookWeir();
  });
  after(() => weir.stop());

  it('has the run and the request that it began with', async () => {
    const [hook] = weir.hooks as [WebhookWeir['hooks'][number]];
    const tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, []);
    await weir.rotate(tenant);
    // Cannot be decrypted, so that each attempt is postponed.
    await weir.db
      .updateTable('webhook_secret')
      .set({ current_secret: 'broken' })
      .where('organization_id', '=', tenant.organizationId)
      .execute();
    const log = captureLog();
    try {
      const { body } = await weir.call('POST', `${flow}/jobs`, {
        key: tenant.key,
        headers: { 'X-Request-Id': 'req_of_a_caller' },
        body: { message: 'm', callbackUrl: `https://${hook.host}/hook` },
      });
      const line = await waitUntil(async () =>
        log.lines.find(({ msg }) => msg === 'A delivery is postponed.'),
      );
      const { organization_id, execution_id, request_id, delivery_id } = line;
      const { id } = await weir.deliveryWhen(tenant, () => true);
      assert.deepEqual(
        { organization_id, execution_id, request_id, delivery_id },
        {
          organization_id: tenant.organizationId,
          execution_id: body.executionId,
          request_id: 'req_of_a_caller',
          delivery_id: id,
        },
      );
    } finally {
      log.stop();
    }
  });
});
