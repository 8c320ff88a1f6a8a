import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { apiRoutes } from '../../../api/app.ts';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import { insertApiKey } from '../../../db/tenants/api-keys.ts';
import { readConfig } from '../../../platform/config/config.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { startApiProcess } from '../../faults/api-process.ts';
import { type Answer, SECRETS_KEYS, startWeir, type Tenant, type Weir } from '../../harness.ts';

const PER_KEY = 3;
const PER_ORGANIZATION = 5;
const LIMITS = {
  WEIR_RATE_LIMIT_PER_KEY: String(PER_KEY),
  WEIR_RATE_LIMIT_PER_ORGANIZATION: String(PER_ORGANIZATION),
};
/** Until a key of 3 per minute may send one more. */
const KEY_STEP_SECONDS = 20;

describe('rate limits', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir({ worker: false, env: LIMITS });
  });
  beforeEach(async () => {
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
  });
  after(() => weir.stop());

  const start = (key = tenant.key, url = weir.url) =>
    weir.call('POST', `${flow}/jobs`, { key, url, body: { message: '' } });
  const secondKey = async () => {
    const { plaintext, keyId, secretHmac } = mintApiKey('live', weir.config.apiKeyPepper);
    const { projectId } = tenant;
    await insertApiKey(weir.db, { projectId, keyId, environment: 'live', name: 'second', secretHmac });
    return plaintext;
  };
  const fields = ({ headers }: Answer) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));
  const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

  it('hold for every endpoint, right after authentication', () => {
    for (const { path, handlers } of apiRoutes(weir as never)) {
      const names = handlers.map(({ name }) => name);
      // Both in one.
      if (names.includes('identifyCaller')) continue;
      const authentication = names.find((name) => name.startsWith('authenticate')) ?? '';
      assert.equal(names[names.indexOf(authentication) + 1], 'limitRate', path);
    }
  });

  it('are shown in RateLimit-Limit, -Remaining and -Reset of every answer, errors too', async () => {
    const answers = [
      await start(),
      await weir.call('POST', `${flow}/execute`, { key: tenant.key, raw: '{' }),
      await weir.call('GET', `${flow}x/jobs/none`, { key: tenant.key }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 415, 404],
    );
    for (const [index, answer] of answers.entries()) {
      const [limit, remaining, reset] = fields(answer);
      assert.deepEqual([limit, remaining], [String(PER_KEY), String(PER_KEY - 1 - index)]);
      assert.match(reset ?? '', /^\d+$/);
      assert(Number(reset) > 0 && Number(reset) <= 60, `${reset}`);
    }
  });

  it('are not shown to a caller without a valid key', async () => {
    const answer = await weir.call('POST', `${flow}/jobs`, { body: {} });
    assert.deepEqual([answer.status, ...fields(answer)], [401, null, null, null]);
  });

  it('answer 429 RATE_LIMITED with Retry-After when the key has used its minute', async () => {
    for (let sent = 0; sent < PER_KEY; sent++) assert.equal((await start()).status, 202);
    const metrics = captureMetrics();
    const answer = await start();
    assert.deepEqual([answer.status, answer.body.detail.code], [429, 'RATE_LIMITED']);
    assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=key'], 1);
    metrics.stop();
    assert.match(answer.body.detail.message, /^The API key is over its 3 requests per minute: try again in/);
    assert.deepEqual(fields(answer).slice(0, 2), [String(PER_KEY), '0']);
    const retryAfter = Number(answer.headers.get('retry-after'));
    assert(retryAfter > 0 && retryAfter <= KEY_STEP_SECONDS, `${retryAfter}`);
  });

  it('give back one request after each step, not a whole minute at once', async () => {
    for (let sent = 0; sent < PER_KEY; sent++) await start();
    await sql`update rate_limit set full_at = full_at - ${KEY_STEP_SECONDS} * interval '1 second'`.execute(
      weir.db,
    );
    assert.deepEqual(statuses([await start(), await start()]), [202, 429]);
  });

  it('add the keys of an organization up, and do not count requests that the key is not allowed to make', async () => {
    for (let sent = 0; sent < 2 * PER_KEY; sent++) await start();
    const second = await secondKey();
    assert.deepEqual(statuses([await start(second), await start(second)]), [202, 202]);
    const metrics = captureMetrics();
    const answer = await start(second);
    assert.equal(answer.status, 429);
    const { 'limit=organization': byOrganization, 'limit=key': byKey } =
      await metrics.read('weir.rate_limit.refusals');
    assert.deepEqual([byOrganization, byKey], [1, 0]);
    metrics.stop();
    assert.match(answer.body.detail.message, /^The organization is over its 5 requests per minute/);
    assert.deepEqual(fields(answer).slice(0, 2), [String(PER_ORGANIZATION), '0']);
  });

  it('leave other organizations alone', async () => {
    for (let sent = 0; sent <= PER_KEY; sent++) await start();
    const other = await weir.createTenant();
    assert.equal((await start(other.key)).status, 404);
  });

  it('are shared by all API processes, exactly, under simultaneous requests', async () => {
    const second = await startApiProcess(weir, LIMITS);
    try {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) => start(tenant.key, index % 2 ? weir.url : second.url)),
      );
      assert.deepEqual(statuses(answers), [...Array(PER_KEY).fill(202), ...Array(12 - PER_KEY).fill(429)]);
    } finally {
      await second.stop();
    }
  });

  describe('while the database', () => {
    // In a process of its own, since a process logs an outage once, for whichever test meets it first.
    let api: Awaited<ReturnType<typeof startApiProcess>>;
    before(async () => {
      api = await startApiProcess(weir, LIMITS);
    });
    after(() => api.stop());

    /** Has the database refuse to count with this SQLSTATE until `work` has ended. */
    async function refusing<T>(code: string, work: () => Promise<T>): Promise<T> {
      await sql`create function refuse_count() returns trigger language plpgsql as
        $$ begin raise 'no' using errcode = ${sql.lit(code)}; end $$`.execute(weir.db);
      await sql`create trigger refuse_count before insert on rate_limit
        for each row execute function refuse_count()`.execute(weir.db);
      try {
        return await work();
      } finally {
        await sql`drop function refuse_count cascade`.execute(weir.db);
      }
    }

    it('is away, let nothing pass: a request gets its 503', async () => {
      const answer = await refusing('53200', () => start(tenant.key, api.url));
      assert.deepEqual([answer.status, answer.body.detail.code], [503, 'DATABASE_UNAVAILABLE']);
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
    });

    it('takes no writes, do not count requests: reads are answered', async () => {
      const answer = await refusing('25006', () =>
        weir.call('GET', `${flow}/runs`, { key: tenant.key, url: api.url }),
      );
      assert.deepEqual([answer.status, ...fields(answer)], [200, null, null, null]);
    });
  });

  it('are off at 0', async () => {
    const off = await startApiProcess(weir, {
      WEIR_RATE_LIMIT_PER_KEY: '0',
      WEIR_RATE_LIMIT_PER_ORGANIZATION: '0',
    });
    try {
      for (let sent = 0; sent <= PER_ORGANIZATION; sent++) {
        const answer = await start(tenant.key, off.url);
        assert.deepEqual([answer.status, ...fields(answer)], [202, null, null, null]);
      }
    } finally {
      await off.stop();
    }
  });

  it('accept only whole numbers from 0 to 1,000,000 in the configuration', () => {
    const env = {
      DATABASE_URL: 'postgres://db/weir',
      WEIR_API_KEY_PEPPER: 'p'.repeat(32),
      WEIR_SECRETS_KEYS: SECRETS_KEYS,
    };
    for (const value of ['-1', '1.5', 'many', '1000001'])
      assert.throws(
        () => readConfig({ ...env, WEIR_RATE_LIMIT_PER_KEY: value }),
        /WEIR_RATE_LIMIT_PER_KEY/,
        value,
      );
    assert.equal(readConfig({ ...env, WEIR_RATE_LIMIT_PER_KEY: '1000000' }).rateLimitPerKey, 1_000_000);
    assert.equal(readConfig(env).rateLimitPerKey, 60_000);
    assert.equal(readConfig(env).rateLimitPerOrganization, 300_000);
  });
});
