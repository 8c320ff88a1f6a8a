// The programs of the page "Call" are run as they are copied, against a real service.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import {
  type Call,
  callSnippet,
  type Language,
  type Way,
} from '../../../../console/flow/call/call-snippets.ts';
import { code, passthrough } from '../../../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../../../harness.ts';
import { itWith } from '../../../where-available.ts';

const LANGUAGES: { language: Language; command: string; file: string; needs: string[] }[] = [
  { language: 'curl', command: 'bash', file: 'call.sh', needs: ['bash', 'curl'] },
  { language: 'typescript', command: process.execPath, file: 'call.ts', needs: [] },
  { language: 'python', command: 'python3', file: 'call.py', needs: ['python3'] },
];
const HOSTILE = `it's "$HOME" \`date\` \\n …`;

describe('the programs that call a flow', () => {
  let weir: Weir;
  let tenant: Tenant;
  let folder: string;
  let call: Call;
  before(async () => {
    weir = await startWeir({
      env: { WEIR_TEST_DIAL_MAP: JSON.stringify({ 'www.wikipedia.org': '127.0.0.1:1' }) },
    });
    tenant = await weir.createTenant();
    folder = await mkdtemp(path.join(tmpdir(), 'weir-call-'));
    const flow = await weir.createFlow(tenant, [
      code('greet', 'return [message, parameters.language];'),
      { type: 'loop', step_id: 'each', name: 'Each', max_iterations: 3, body: [passthrough('item')] },
    ]);
    call = {
      ...{ url: `${weir.url}/api/v1/seq/${flow}`, message: HOSTILE, parameters: ['language'] },
      ...{ callbackUrl: 'https://www.wikipedia.org/weir', apiKey: undefined },
    };
  });
  after(async () => {
    await weir.stop();
    await rm(folder, { recursive: true });
  });

  async function run(
    way: Way,
    { language, command, file }: (typeof LANGUAGES)[number],
    changed: Partial<Call> = {},
  ) {
    const program = path.join(folder, file);
    await writeFile(program, callSnippet(way, language, { ...call, ...changed }));
    const env = { PATH: process.env.PATH, WEIR_API_KEY: changed.apiKey ? 'another key' : tenant.key };
    const child = spawn(command, [program], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    assert.equal(await ended, 0, `${stderr}\n${stdout}`);
    return stdout;
  }

  it('find the state of a run behind its id, whatever the id is', async () => {
    const flow = call.url.slice(`${weir.url}/api/v1/seq/`.length);
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    for (const query of ['', '?wait=60']) {
      const headers = { authorization: `Bearer ${tenant.key}` };
      const text = await (await fetch(`${call.url}/jobs/${body.executionId}${query}`, { headers })).text();
      assert.match(text, new RegExp(`"executionId":"${body.executionId}","status":"(started|completed)"`));
    }
  });

  const result = [HOSTILE, '…'];
  for (const at of LANGUAGES) {
    const { language, needs } = at;
    itWith(needs, `wait for the answer, in ${language}`, async () => {
      const printed = await run('execute', at);
      if (language === 'curl') assert.deepEqual(JSON.parse(printed).result, result);
      if (language === 'typescript') assert.ok(printed.includes('…'), printed);
      if (language === 'python') assert.deepEqual(JSON.parse(printed), result);
    });

    itWith(needs, `start a job and ask for it until it has ended, in ${language}`, async () => {
      const printed = await run('jobs', at);
      if (language === 'curl') assert.deepEqual(JSON.parse(printed).result, result);
      if (language === 'python') assert.deepEqual(JSON.parse(printed), result);
      if (language === 'typescript') assert.ok(printed.includes('…'), printed);
    });

    itWith(
      needs,
      `know a run that has ended from one that has started by its result, in ${language}`,
      async () => {
        const flow = await weir.createFlow(tenant, [code('a', 'return { status: "started" };')]);
        const printed = await run('jobs', at, { url: `${weir.url}/api/v1/seq/${flow}` });
        assert.match(printed, /"?status"?: ?["']started["']/);
      },
    );

    itWith(needs, `start a job that tells of its end, in ${language}`, async () => {
      const [id = ''] = /[0-9a-f-]{36}/.exec(await run('webhook', at)) ?? [];
      const { callback_url, callback_events } = await weir.db
        .selectFrom('run')
        .select(['callback_url', 'callback_events'])
        .where('execution_id', '=', id)
        .executeTakeFirstOrThrow();
      assert.deepEqual(
        [callback_url, callback_events],
        [call.callbackUrl, ['flow.completed', 'flow.failed']],
      );
    });

    itWith(needs, `go step by step, in ${language}`, async () => {
      const printed = await run('step', at);
      assert.ok(printed.includes('greet'), printed);
      // A call of curl is one step; run_started names the others.
      assert.ok(printed.includes('each'), printed);
    });

    itWith(needs, `call a version with a key that is written into them, in ${language}`, async () => {
      await run('execute', at, { url: `${call.url}/v1`, apiKey: tenant.key });
    });
  }
});
