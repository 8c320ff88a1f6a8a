import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json, text } from 'node:stream/consumers';
import { parseApiKey, secretMatches } from '../../api/api-key.ts';
import { findApiKey } from '../../db/api-keys.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PEPPER = 'pepper'.repeat(6);

type Outcome = { code: number | null; stdout: string; stderr: string };

async function weirIn(env: { [name: string]: string }, args: string[], stdin = ''): Promise<Outcome> {
  const child = spawn(process.execPath, [path.join(ROOT, 'cli/weir.js'), ...args], { env });
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

describe('weir', () => {
  let database: TestDatabase;
  let folder: string;
  let env: { [name: string]: string };
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'weir-cli-'));
    env = { DATABASE_URL: database.url, WEIR_API_KEY_PEPPER: PEPPER, WEIR_STATE_DIR: folder };
    await succeed('org', 'create', 'acme', '--name', 'Acme');
    await succeed('project', 'create', 'acme/main');
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  });

  const weir = (...args: string[]) => weirIn(env, args);

  /** stdout of a command that must succeed. */
  async function succeed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await weir(...args);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    return stdout;
  }
  const succeedJson = async (...args: string[]) => JSON.parse(await succeed(...args, '--json'));

  /** stderr of a command that must fail with `code`, as sentences and without a stack trace. */
  async function fail(code: number, outcome: Promise<Outcome>): Promise<string> {
    const { code: actual, stdout, stderr } = await outcome;
    assert.equal(actual, code, stderr);
    assert.equal(stdout, '');
    assert.doesNotMatch(stderr, /^\s+at /m);
    return stderr;
  }

  describe('org and project', () => {
    it('list what was created, as a table and as JSON', async () => {
      assert.match(await succeed('org', 'list'), /^SLUG +NAME +CREDITS\nacme +Acme +[\d.]+\n$/);
      const [project] = await succeedJson('project', 'list');
      assert.deepEqual([project.organization, project.slug, project.name], ['acme', 'main', 'main']);
    });

    it('refuse a taken slug with a sentence and a wrong one as a usage error', async () => {
      assert.match(await fail(1, weir('org', 'create', 'acme')), /exists already/);
      assert.match(await fail(2, weir('org', 'create', 'Not A Slug')), /lower-case/);
      assert.match(await fail(1, weir('project', 'create', 'nobody/x')), /no organization nobody/);
      await fail(2, weir('project', 'create', 'acme'));
      await fail(2, weir('org', 'destroy'));
    });
  });

  describe('key', () => {
    it('creates a key that authenticates, lists it without its secret and revokes it', async () => {
      const created = await succeedJson(
        'key',
        'create',
        'acme/main',
        '--name',
        'ci',
        '--environment',
        'test',
      );
      const parts = parseApiKey(created.key);
      const stored = await findApiKey(database.db, parts?.keyId ?? '');
      assert.equal(secretMatches(parts?.secret ?? '', stored?.secret_hmac, PEPPER), true);
      assert.equal(stored?.environment, 'test');
      const listed = await succeed('key', 'list', 'acme/main');
      assert.match(listed, new RegExp(`weir_test_${parts?.keyId} +ci +active`));
      assert.equal(listed.includes(parts?.secret ?? ''), false);
      await succeed('key', 'revoke', 'acme/main', parts?.keyId ?? '');
      const [row] = await succeedJson('key', 'list', 'acme/main');
      assert.equal(row.state, 'revoked');
      assert.match(await fail(1, weir('key', 'revoke', 'acme/main', 'nothere1')), /no API key nothere1/);
    });

    it('refuses an expiry that is past', async () => {
      const args = ['key', 'create', 'acme/main', '--name', 'x', '--expires', '2020-01-01'];
      assert.match(await fail(2, weir(...args)), /in the past/);
    });
  });

  describe('flow', () => {
    const example = path.join(ROOT, 'examples/parallel.yaml');

    it('imports, publishes, sets production and exports what imports as the same flow', async () => {
      const args = ['flow', 'import', example, '--project', 'acme/main'];
      const first = await succeedJson(...args, '--note', 'first', '--production');
      assert.deepEqual(first, { flow: 'acme/main/parallel', created: true, version: 1, production: true });
      const exported = await succeed('flow', 'export', 'acme/main/parallel', '--version', '1');
      assert.match(exported, /^description: /m);
      const again = await weirIn(env, ['flow', 'import', '-', '--project', 'acme/main', '--json'], exported);
      assert.equal(JSON.parse(again.stdout).created, false);
      assert.equal(await succeed('flow', 'export', 'acme/main/parallel'), exported);
      const file = path.join(folder, 'flow.json');
      await writeFile(file, await succeed('flow', 'export', 'acme/main/parallel', '--format', 'json'));
      await succeed('flow', 'import', file, '--project', 'acme/main');
      assert.equal(await succeed('flow', 'export', 'acme/main/parallel'), exported);

      await succeed('flow', 'publish', 'acme/main/parallel', '--note', 'second');
      await succeed('flow', 'set-production', 'acme/main/parallel', '2');
      const versions = await succeedJson('flow', 'versions', 'acme/main/parallel');
      assert.deepEqual(
        versions.map((row: { version: number; note: string; production: boolean }) => [
          row.version,
          row.note,
          row.production,
        ]),
        [
          [2, 'second', true],
          [1, 'first', false],
        ],
      );
      assert.match(await succeed('flow', 'list', 'acme/main'), /parallel +Article review +2 +2 /);
    });

    it('names what is wrong in a file by line and path, and changes nothing', async () => {
      const wrong = 'name: W\nslug: wrong\nsteps:\n  - promt: x\n    processor_type: llm\n';
      const import_ = ['flow', 'import', '-', '--project', 'acme/main', '--publish'];
      const shape = await fail(1, weirIn(env, import_, wrong));
      assert.match(shape, /^line 4: steps\[0\]\.promt: There is no such field here\.$/m);
      const tree = await fail(1, weirIn(env, import_, wrong.replace('promt', 'prompt')));
      assert.match(tree, /^line 4: steps\[0\]\.model: An llm block needs a model/m);
      const schema = wrong.replace('promt: x', 'outputSchema: { type: nope }').replace('llm', 'passthrough');
      assert.match(await fail(1, weirIn(env, import_, schema)), /^steps\[0\]\.outputSchema: /m);
      assert.match(await fail(1, weir('flow', 'export', 'acme/main/wrong')), /no flow acme\/main\/wrong/);
      assert.match(
        await fail(1, weir('flow', 'import', 'nowhere.yaml', '--project', 'acme/main')),
        /nowhere\.yaml cannot be imported: there is no such file/,
      );
    });

    it('does not set an unknown version as production, nor publish a draft that cannot run', async () => {
      assert.match(await fail(1, weir('flow', 'set-production', 'acme/main/parallel', '9')), /version 9/);
      await database.db
        .updateTable('flow')
        .set({
          draft: JSON.stringify({
            steps: [{ type: 'loop', step_id: 'l', name: 'l', body: [], max_iterations: 1 }],
          }),
        })
        .where('slug', '=', 'parallel')
        .execute();
      const publish = weir('flow', 'publish', 'acme/main/parallel', '--note', 'x');
      assert.match(await fail(1, publish), /steps\[0\]\.body: /);
    });
  });

  describe('credits', () => {
    it('grants once per key', async () => {
      const grant = ['credits', 'grant', 'acme', '12.5', '--key', 'invoice-1'];
      assert.deepEqual(await succeedJson(...grant), { organization: 'acme', granted: true, balance: 12.5 });
      assert.deepEqual(await succeedJson(...grant), { organization: 'acme', granted: false, balance: 12.5 });
      await fail(2, weir('credits', 'grant', 'acme', '0'));
      await fail(2, weir('credits', 'grant', 'acme', '1e3'));
    });
  });

  describe('the audit log', () => {
    it('has one entry for each write, by the operator, and none for what was refused or changed nothing', async () => {
      const example = path.join(ROOT, 'examples/parallel.yaml');
      const { id } = await succeedJson('org', 'create', 'audited');
      await succeed('project', 'create', 'audited/main');
      await fail(1, weir('project', 'create', 'audited/main'));
      const { keyId } = await succeedJson('key', 'create', 'audited/main', '--name', 'x');
      await succeed('key', 'revoke', 'audited/main', keyId);
      await succeed('member', 'add', 'audited', 'ada', '--role', 'owner');
      await fail(1, weir('member', 'add', 'audited', 'ada'));
      const grant = ['credits', 'grant', 'audited', '12.5', '--key', 'invoice-1'];
      await succeed(...grant);
      await succeed(...grant);
      await succeed('flow', 'import', example, '--project', 'audited/main', '--production');
      await succeed('flow', 'import', example, '--project', 'audited/main');
      await succeed('flow', 'publish', 'audited/main/parallel', '--note', 'second');
      await fail(1, weir('flow', 'set-production', 'audited/main/parallel', '9'));
      await succeed('flow', 'set-production', 'audited/main/parallel', '2');
      const entries = await database.db
        .selectFrom('audit_entry')
        .select(['actor', 'action', 'details'])
        .where('organization_id', '=', id)
        .orderBy('id')
        .execute();
      assert.deepEqual(
        entries.map(({ action }) => action),
        [
          'organization.create',
          'project.create',
          'api_key.create',
          'api_key.revoke',
          'member.add',
          'credits.grant',
          'flow.create',
          'flow.publish',
          'flow.set_production',
          'flow.edit',
          'flow.publish',
          'flow.set_production',
        ],
      );
      for (const { actor } of entries) assert.equal(actor, 'operator');
      assert.deepEqual(entries.at(-1)?.details, { version: 2 });
    });
  });

  describe('runs', () => {
    const executionId = randomUUID();
    before(async () => {
      await succeed(
        'flow',
        'import',
        path.join(ROOT, 'examples/code.yaml'),
        '--project',
        'acme/main',
        '--production',
      );
      const version = await database.db
        .selectFrom('flow_version')
        .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
        .innerJoin('project', 'project.id', 'flow.project_id')
        .select(['flow_version.id', 'flow.id as flow_id', 'flow.project_id', 'project.organization_id'])
        .where('flow.slug', '=', 'code')
        .executeTakeFirstOrThrow();
      await database.db
        .insertInto('run')
        .values({
          execution_id: executionId,
          organization_id: version.organization_id,
          project_id: version.project_id,
          flow_id: version.flow_id,
          flow_version_id: version.id,
          mode: 'execute',
          environment: 'live',
          status: 'completed',
          input: JSON.stringify({ message: 'two lines', parameters: {}, block_overrides: {} }),
          result: JSON.stringify({ ref: 'total' }),
          started_at: new Date(Date.UTC(2026, 0, 1)),
          finished_at: new Date(Date.UTC(2026, 0, 1, 0, 0, 2)),
        })
        .execute();
      for (const [index, block] of ['parse', 'total'].entries())
        await database.db
          .insertInto('block_run')
          .values({
            execution_id: executionId,
            block_key: block,
            step_id: block,
            name: `Block \u001b[31m${block}`,
            processor_type: 'code',
            status: 'completed',
            input: JSON.stringify({ ref: index === 0 ? '$message' : 'parse' }),
            output: JSON.stringify({ from: block }),
            prompt_tokens: 30,
            completion_tokens: 12,
            cost_microcredits: 1500,
            latency_ms: 7,
            attempts: 2,
            started_at: new Date(Date.UTC(2026, 0, 1, 0, 0, index)),
            finished_at: new Date(Date.UTC(2026, 0, 1, 0, 0, index + 1)),
          })
          .execute();
    });

    it('lists runs by organization, project, flow and status', async () => {
      const [run] = await succeedJson('runs', 'list', 'acme/main/code', '--status', 'completed');
      assert.equal(run.executionId, executionId);
      assert.equal(run.durationMs, 2000);
      assert.equal(run.cost, 0.003);
      assert.match(
        await succeed('runs', 'list'),
        new RegExp(`${executionId} +acme/main/code +1 +execute +completed`),
      );
      assert.deepEqual(await succeedJson('runs', 'list', 'acme/main/code', '--status', 'failed'), []);
      assert.match(await fail(1, weir('runs', 'list', 'acme/mian')), /no project acme\/mian/);
    });

    it('asks for the cancellation of a run that has not ended', async () => {
      const asked = async () =>
        (
          await database.db
            .selectFrom('run')
            .select('cancel_requested_at')
            .where('execution_id', '=', executionId)
            .executeTakeFirstOrThrow()
        ).cancel_requested_at;
      const setStatus = (status: 'started' | 'completed') =>
        database.db.updateTable('run').set({ status }).where('execution_id', '=', executionId).execute();
      assert.equal((await succeedJson('runs', 'cancel', executionId)).status, 'completed');
      assert.equal(await asked(), null);
      await setStatus('started');
      await succeed('runs', 'cancel', executionId);
      assert.notEqual(await asked(), null);
      await setStatus('completed');
      await fail(1, weir('runs', 'cancel', randomUUID()));
    });

    it('shows a run with its blocks, and with --full what went in and came out', async () => {
      const shown = await succeed('runs', 'show', executionId);
      assert.match(shown, /^total +Block .* +completed +7 +42 +0\.0015 +2$/m);
      assert.match(shown, /^Result: \{"from":"total"\}$/m);
      assert.equal(shown.includes('\u001b'), false);
      const full = await succeedJson('runs', 'show', executionId, '--full');
      assert.deepEqual(
        full.blocks.map((block: { input: unknown; output: unknown }) => [block.input, block.output]),
        [
          ['two lines', { from: 'parse' }],
          [{ from: 'parse' }, { from: 'total' }],
        ],
      );
      assert.match(await fail(1, weir('runs', 'show', randomUUID())), /There is no run/);
      assert.match(await fail(1, weir('runs', 'show', 'x')), /There is no run x/);
    });
  });

  describe('run', () => {
    const block = (key: string) => ({
      step_id: key,
      key,
      name: key.toUpperCase(),
      status: 'completed',
      attempts: 1,
      model: null,
      usage: { promptTokens: 1, completionTokens: 2, cost: 0.5, ms: 9 },
    });
    const requests: { method?: string; url?: string; authorization?: string; body?: unknown }[] = [];
    let answers: { status: number; body: unknown }[] = [];
    const server = createServer(async (request: IncomingMessage, response) => {
      requests.push({
        method: request.method,
        url: request.url,
        authorization: request.headers.authorization,
        ...(request.method === 'POST' && { body: await json(request) }),
      });
      const { status, body } = answers.shift() ?? { status: 500, body: 'no more answers' };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    before(async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const local = { WEIR_URL: `http://127.0.0.1:${port}`, WEIR_API_KEY: 'weir_live_local' };
      await writeFile(
        path.join(folder, 'env.json'),
        JSON.stringify({ ...local, DATABASE_URL: database.url }),
      );
    });
    beforeEach(() => requests.splice(0));
    after(() => server.close());

    const start = { status: 202, body: { executionId: 'id', status: 'started', flowId: 'f', blockCount: 2 } };
    const state = { durationMs: 20, cost: 1, blocks: [block('a'), block('b')] };

    it('starts a run with the local key and follows it through an outage, each block once', async () => {
      answers = [
        start,
        { status: 200, body: { ...state, status: 'started', blocks: [block('a')] } },
        { status: 503, body: { detail: { code: 'ENGINE_UNAVAILABLE', message: 'away' } } },
        { status: 200, body: { ...state, status: 'completed', result: { answer: 42 } } },
      ];
      const out = await succeed(
        'run',
        'o/p/f',
        '--message',
        'hi',
        '--parameters',
        '{"a":1}',
        '--version',
        '3',
        '--follow',
      );
      assert.deepEqual(out.split('\n').slice(0, 4), [
        'Started id.',
        'completed a (A) 9 ms, 3 tokens, 0.5 credits',
        'completed b (B) 9 ms, 3 tokens, 0.5 credits',
        'Completed in 20 ms, 1 credits:',
      ]);
      assert.deepEqual(requests[0], {
        method: 'POST',
        url: '/api/v1/seq/o/p/f/v3/jobs',
        authorization: 'Bearer weir_live_local',
        body: { message: 'hi', parameters: { a: 1 } },
      });
      assert.equal(requests[3]?.url, '/api/v1/seq/o/p/f/v3/jobs/id');
    });

    it('ends with 1 when the run fails, and prints nothing but its state as JSON', async () => {
      answers = [start, { status: 200, body: { ...state, status: 'failed', errorMessage: 'broken' } }];
      const { code, stdout } = await weir('run', 'o/p/f', '--message', 'hi', '--follow', '--json');
      assert.equal(code, 1);
      assert.equal(JSON.parse(stdout).errorMessage, 'broken');
    });

    it('says what the API refused', async () => {
      answers = [
        { status: 404, body: { detail: { code: 'FLOW_NOT_FOUND', message: 'There is no such flow.' } } },
      ];
      const stderr = await fail(1, weir('run', 'o/p/f', '--message', 'hi'));
      assert.equal(stderr, 'There is no such flow. (FLOW_NOT_FOUND)\n');
      assert.match(
        await fail(2, weir('run', 'o/p/f', '--message', 'hi', '--parameters', '[1]')),
        /JSON object/,
      );
    });

    it('never sends the local key to a service named in WEIR_URL', async () => {
      const elsewhere = { ...env, WEIR_URL: 'http://127.0.0.1:9' };
      const stderr = await fail(1, weirIn(elsewhere, ['run', 'o/p/f', '--message', 'hi']));
      assert.match(stderr, /^WEIR_API_KEY is not set/);
    });
  });

  describe('configuration', () => {
    it('is the state of a local npm start when no variable is set', async () => {
      const local = await mkdtemp(path.join(folder, 'state-'));
      const bare = { WEIR_STATE_DIR: local };
      const without = await fail(1, weirIn(bare, ['org', 'list']));
      assert.match(
        without,
        /^DATABASE_URL is not set and no local service was started here.*npm start first\.\n$/,
      );
      await writeFile(path.join(local, 'env.json'), JSON.stringify({ DATABASE_URL: database.url }));
      const { stdout } = await weirIn(bare, ['org', 'list', '--json']);
      assert.equal(JSON.parse(stdout)[0].slug, 'acme');
    });

    it('that leads nowhere is said in a sentence', async () => {
      const nowhere = { ...env, DATABASE_URL: 'postgres://127.0.0.1:9/x' };
      assert.match(await fail(1, weirIn(nowhere, ['org', 'list'])), /^The database cannot be reached/);
    });
  });
});
