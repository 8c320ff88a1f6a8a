// Starts a Weir whose deliveries reach receivers of the test.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startWebhookReceiver, testAuthority, type WebhookReceiver } from './fakes/webhook-receiver.ts';
import { type Answer, startWeir, type Tenant, type Weir } from './harness.ts';
import { waitUntil } from './wait-until.ts';

/** A delivery's activity as the engine has it between two attempts; `gapMs` is NaN after a worker was lost. */
type PendingAttempt = { attempt: number; gapMs: number; lastFailure: string };

export type WebhookWeir = Weir & {
  /** The environment for other processes of the same Weir. */
  env: NodeJS.ProcessEnv;
  hooks: WebhookReceiver[];
  /** Sends to a path below the tenant's webhooks. */
  webhooks(tenant: Tenant, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Rotates the tenant's signing secret; returns the new one in full. */
  rotate(tenant: Tenant): Promise<string>;
  /** Starts a job that calls back to a receiver; returns its executionId. */
  startJob(tenant: Tenant, flow: string, hook: WebhookReceiver, more?: object): Promise<string>;
  /** Sends a test event; returns the delivery. */
  sendTest(tenant: Tenant, hook: WebhookReceiver): Promise<Answer['body']>;
  /** Waits until the engine has scheduled attempt `attempt` of the workflow for later. */
  pendingAttempt(workflowId: string, attempt: number): Promise<PendingAttempt>;
  /** Makes the engine start the pending attempt now, like an operator who unpauses it. */
  attemptNow(workflowId: string): Promise<void>;
  /** Polls a delivery (without `id`: the tenant's latest one) until `holds` is true of it; returns it. */
  deliveryWhen(
    tenant: Tenant,
    holds: (delivery: Answer['body']) => boolean,
    id?: string,
  ): Promise<Answer['body']>;
};

/** Starts `receivers` receivers, and a Weir that reaches them and nothing else on this machine. */
export async function startWebhookWeir(
  options: { receivers?: number; worker?: boolean; env?: NodeJS.ProcessEnv } = {},
): Promise<WebhookWeir> {
  const hooks = await Promise.all(Array.from({ length: options.receivers ?? 1 }, startWebhookReceiver));
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-webhooks-'));
  const ca = path.join(folder, 'ca.pem');
  writeFileSync(ca, testAuthority().pem);
  const env = {
    WEIR_TEST_DIAL_MAP: JSON.stringify(
      Object.fromEntries(hooks.map(({ host, port }) => [host, `127.0.0.1:${port}`])),
    ),
    WEIR_WEBHOOK_CA_FILE: ca,
    ...options.env,
  };
  const weir = await startWeir({ ...options, env });
  const webhookWeir: WebhookWeir = {
    ...weir,
    env,
    hooks,
    webhooks: (tenant, method, path, body) =>
      weir.call(method, `/organizations/${tenant.organizationId}/webhooks/${path}`, {
        key: tenant.key,
        body,
      }),
    async rotate(tenant) {
      const { body } = await webhookWeir.webhooks(tenant, 'POST', 'secret/rotate');
      return body.newSecret;
    },
    async startJob(tenant, flow, hook, more = {}) {
      const { status, body } = await weir.call('POST', `${flow}/jobs`, {
        key: tenant.key,
        body: { message: 'm', callbackUrl: `https://${hook.host}/hook`, ...more },
      });
      if (status !== 202) throw new Error(JSON.stringify(body));
      return body.executionId;
    },
    async sendTest(tenant, hook) {
      const { status, body } = await webhookWeir.webhooks(tenant, 'POST', 'test', {
        url: `https://${hook.host}/hook`,
      });
      if (status !== 202) throw new Error(JSON.stringify(body));
      return body;
    },
    async pendingAttempt(workflowId, attempt) {
      return waitUntil(async () => {
        const { raw } = await weir.client.workflow.getHandle(workflowId).describe();
        const [pending] = raw.pendingActivities ?? [];
        return (
          pending?.attempt === attempt &&
          pending.nextAttemptScheduleTime && {
            attempt,
            gapMs: toMs(pending.nextAttemptScheduleTime) - toMs(pending.lastAttemptCompleteTime ?? {}),
            lastFailure: pending.lastFailure?.message ?? '',
          }
        );
      });
    },
    async attemptNow(workflowId) {
      const activity = {
        namespace: 'default',
        execution: { workflowId },
        type: 'attemptDelivery',
        identity: 'test',
      };
      await weir.client.workflowService.pauseActivity(activity);
      await weir.client.workflowService.unpauseActivity(activity);
    },
    async deliveryWhen(tenant, holds, id) {
      return waitUntil(async () => {
        const { body: list } = await webhookWeir.webhooks(tenant, 'GET', 'deliveries?limit=1');
        const wanted = id ?? list.deliveries[0]?.id;
        if (wanted === undefined) return false;
        const { body } = await webhookWeir.webhooks(tenant, 'GET', `deliveries/${wanted}`);
        return holds(body) && body;
      });
    },
    async stop() {
      await Promise.all(hooks.map((hook) => hook.close()));
      await weir.stop();
      rmSync(folder, { recursive: true });
    },
  };
  return webhookWeir;
}

type Timestamp = { seconds?: unknown; nanos?: number | null };

/** Converts to whole milliseconds: the engine adds some microseconds. */
function toMs({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000 + Math.floor((nanos ?? 0) / 1_000_000);
}
