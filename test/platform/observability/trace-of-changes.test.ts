import assert from 'node:assert/strict';
import { recordUserChange } from '../../../db/tenants/audit-entries.ts';
import type { RunningTraces } from '../../../platform/observability/open-telemetry-sdk.ts';
import { startTraces } from '../../../platform/observability/start-telemetry.ts';
import { inSpan } from '../../../platform/observability/tracing.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../fakes/otlp-receiver.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { tracedEnv } from './tracing-harness.ts';

const TRACE_ID = 'ab'.repeat(16);
const traceparent = `00-${TRACE_ID}-${'cd'.repeat(8)}-01`;

describe('the audit log, where there are traces,', () => {
  let provider: IdentityProvider;
  let otlp: OtlpReceiver;
  let traces: RunningTraces;
  let weir: Weir;
  let acme: Organization;
  before(async () => {
    otlp = await startOtlpReceiver();
    Object.assign(process.env, tracedEnv(otlp.url));
    traces = await startTraces('weir-test');
    provider = await startIdentityProvider();
    weir = await startWeir({ env: provider.env, worker: false });
    acme = await createOrganization(weir, provider);
  });
  after(async () => {
    await weir.stop();
    await provider.close();
    await traces.shutdown();
    for (const name of Object.keys(tracedEnv(otlp.url))) delete process.env[name];
    await otlp.close();
  });

  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    weir.call(method, `/organizations/${acme.organizationId}${path}`, {
      key: acme.token.owner,
      body,
      ...(headers && { headers }),
    });
  const traceOf = async (action: string) => {
    const { entries } = (await call('GET', '/audit-log')).body;
    return entries.find((entry: { action: string }) => entry.action === action)?.traceId;
  };

  it('names the trace of the request that made a change, which its spans have too', async () => {
    const { status } = await call('PUT', '', { name: 'Renamed' }, { traceparent });
    assert.equal(status, 200);
    assert.equal(await traceOf('organization.update'), TRACE_ID);
    await otlp.traceWhen(TRACE_ID, (spans) => spans.some(({ name }) => name.startsWith('PUT ')));
  });

  it('names it in the entry of each organization whose member a change is about', async () => {
    const author = { actor: acme.users.owner, requestId: 'req_1' };
    const change = { userId: acme.users.owner, action: 'user.test', resourceId: 'r' };
    await inSpan('change', { request: { traceparent } }, () =>
      weir.db.transaction().execute((tx) => recordUserChange(tx, author, change)),
    );
    assert.equal(await traceOf('user.test'), TRACE_ID);
  });
});
