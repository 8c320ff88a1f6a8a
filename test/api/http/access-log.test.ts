// The line that each request leaves in the log, and the id by which it is found there.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { passthrough } from '../../blocks.ts';
import { captureLog } from '../../capture-log.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

describe('the line of a request in the log', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  let captured: ReturnType<typeof captureLog>;
  before(async () => {
    weir = await startWeir();
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('a')]);
  });
  after(() => weir.stop());
  beforeEach(() => {
    captured = captureLog();
  });
  afterEach(() => captured.stop());

  const send = (path: string, headers: { [name: string]: string }, init: RequestInit = {}) =>
    fetch(`${weir.url}${path}`, { ...init, headers: { authorization: `Bearer ${tenant.key}`, ...headers } });
  const execute = (headers = {}) =>
    send(
      `/api/v1/seq/${flow}/execute`,
      { 'content-type': 'application/json', ...headers },
      { method: 'POST', body: '{"message":"the secret plan"}' },
    );
  /** The line comes when the answer has ended, which its reader may know first. */
  const lineOf = (requestId: string | null) =>
    waitUntil(() =>
      captured.lines.find(({ msg, request_id }) => msg === 'Request' && request_id === requestId),
    );

  it('has method, route, status, duration, key, organization and run, and neither content nor secrets', async () => {
    const answer = await execute();
    const line = await lineOf(answer.headers.get('x-request-id'));
    const { executionId } = (await answer.json()) as { executionId: string };
    const { method, route, status, key_id, organization_id, execution_id } = line;
    assert.deepEqual(
      [method, status, organization_id, execution_id],
      ['POST', 200, tenant.organizationId, executionId],
    );
    assert.equal(route, '/api/v1/seq/:org/:project/:flow/execute');
    assert.ok(tenant.key.includes(String(key_id)) && typeof line.duration_ms === 'number');
    assert.doesNotMatch(JSON.stringify(captured.lines), new RegExp(`secret plan|${tenant.key}`));
  });

  it('says why an API key was refused, which its caller is not told', async () => {
    const [prefix, environment, keyId, secret] = tenant.key.split('_');
    for (const [key, reason] of [
      [`${prefix}_${environment}_${keyId}_${'A'.repeat(32)}`, /secret or WEIR_API_KEY_PEPPER is wrong/],
      [`${prefix}_${environment}_AAAAAAAA_${secret}`, /the key does not exist/],
      [`${prefix}_test_${keyId}_${secret}`, /another environment/],
      [`${tenant.key}x`, /not have the form of an API key/],
    ] as const) {
      const answer = await execute({ authorization: `Bearer ${key}` });
      assert.equal(answer.status, 401);
      const line = await lineOf(answer.headers.get('x-request-id'));
      assert.match(String(line.reason), reason);
      assert.doesNotMatch(await answer.text(), reason);
    }
    assert.doesNotMatch(JSON.stringify(captured.lines), new RegExp(String(secret)));
  });

  it('has the X-Request-Id of the caller, which the run keeps', async () => {
    const answer = await execute({ 'x-request-id': 'req_abc-123/4' });
    assert.equal(answer.headers.get('x-request-id'), 'req_abc-123/4');
    const { execution_id } = await lineOf('req_abc-123/4');
    const request = await weir.call('GET', `${flow}/jobs/${execution_id}/request`, { key: tenant.key });
    assert.equal(request.body.requestId, 'req_abc-123/4');
  });

  for (const [name, given] of [
    ['too long', 'a'.repeat(129)],
    ['with quotes', '"}{"'],
    ['with spaces', 'a b'],
    ['empty', ''],
  ] as const)
    it(`gets an id of the service instead of one that is ${name}`, async () => {
      const answer = await send('/api/v1/me', { 'x-request-id': given });
      assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    });

  it('has no route for a path that there is not, however it is written', async () => {
    const answer = await send('/api/v1/tokens/weir_live_secret?key=secret', {});
    const line = await lineOf(answer.headers.get('x-request-id'));
    assert.deepEqual([line.route, line.status], [null, 404]);
    assert.doesNotMatch(JSON.stringify(captured.lines), /secret/);
  });

  it('is there for refused callers too, and says nothing of their credentials', async () => {
    const answer = await fetch(`${weir.url}/api/v1/me`, {
      headers: { authorization: 'Bearer weir_live_AAAAAAAA_guess' },
    });
    const line = await lineOf(answer.headers.get('x-request-id'));
    assert.deepEqual([line.status, line.key_id], [401, undefined]);
    assert.doesNotMatch(JSON.stringify(captured.lines), /guess/);
  });

  it('has the code of a refusal, and of a 429 the limit that refused', async () => {
    const missing = await lineOf((await send(`/api/v1/seq/${flow}x/jobs/1`, {})).headers.get('x-request-id'));
    assert.deepEqual([missing.status, missing.code, missing.limit], [404, 'FLOW_NOT_FOUND', undefined]);
    const limited = await startWeir({
      env: { WEIR_RUNS_UNDER_WAY_MAX: '1', WEIR_RATE_LIMIT_PER_KEY: '4' },
      worker: false,
    });
    const caller = await limited.createTenant();
    const path = await limited.createFlow(caller, [passthrough('a')]);
    const limits = new Set<unknown>();
    for (let request = 0; request < 6; request += 1) {
      const { headers } = await limited.call('POST', `${path}/jobs`, {
        key: caller.key,
        body: { message: 'm' },
      });
      const { status, code, limit } = await lineOf(headers.get('x-request-id'));
      limits.add(`${status} ${code} ${limit}`);
    }
    assert.deepEqual(
      [...limits],
      ['202 undefined undefined', '429 RATE_LIMITED runs_under_way', '429 RATE_LIMITED key'],
    );
    await limited.stop();
  });

  it('says that the caller hung up before the answer ended', async () => {
    const { port } = new URL(weir.url);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const request_id = 'hung-up';
    socket.write(
      `POST /api/v1/seq/${flow}/execute HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${request_id}\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    const { aborted, status } = await lineOf(request_id);
    assert.deepEqual([aborted, status], [true, null]);
  });

  it('is of the level debug for requests that programs repeat all day', async () => {
    const answer = await send('/readyz', {});
    assert.equal((await lineOf(answer.headers.get('x-request-id'))).level, 'debug');
  });
});
