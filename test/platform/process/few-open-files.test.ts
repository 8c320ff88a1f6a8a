import assert from 'node:assert/strict';
import { describeFewOpenFiles } from '../../../platform/process/few-open-files.ts';
import { startProgram } from '../../faults/processes.ts';
import { startWeir, type Weir } from '../../harness.ts';

/** Eight times as many are more than the kernel gives any process. */
const REQUESTS = 500_000_000;
const WORDS = /A process may have \d+ files and connections open, and 40000\d+ are needed/;

(process.platform === 'linux' ? describe : describe.skip)('a limit of open files (Linux)', () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir({ worker: false });
  });
  after(() => weir.stop());

  async function startApi(env: NodeJS.ProcessEnv): Promise<string> {
    const api = await startProgram(weir, 'api/server.ts', env);
    await api.kill();
    return api.errors();
  }

  it('that is lower than requests may need is named by the log of an API when it starts', async () => {
    const errors = await startApi({ WEIR_OPEN_REQUESTS_MAX: String(REQUESTS) });
    assert.match(errors, WORDS);
    assert.match(errors, /or lower WEIR_OPEN_REQUESTS_MAX/);
  });

  it('is compared with what the roles of a worker need', async () => {
    const roles = ['flows', 'webhooks'] as const;
    const low = { ...weir.config, sandboxProcesses: 1, modelConcurrency: 1, webhookConcurrency: 1 };
    for (const role of roles)
      for (const [needs, limits] of [
        ['flows', { ...low, sandboxProcesses: REQUESTS }],
        ['flows', { ...low, modelConcurrency: REQUESTS }],
        ['webhooks', { ...low, webhookConcurrency: REQUESTS }],
      ] as const) {
        const few = await describeFewOpenFiles(limits, { worker: [role] });
        assert.equal(few !== undefined, needs === role, `${role}: ${few}`);
      }
  });

  it('that is high enough is not mentioned', async () => {
    assert.doesNotMatch(await startApi({ WEIR_OPEN_REQUESTS_MAX: '1' }), /files and connections open/);
  });
});
