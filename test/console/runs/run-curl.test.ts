import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { quoteForShell } from '../../../console/api/curl-command.ts';
import { startCommand } from '../../../console/runs/run-curl.ts';

const TARGET = {
  origin: 'https://weir.example',
  org: 'demo',
  project: 'demo',
  flow: 'hello',
  version: 3,
  projectId: 'p',
  flowId: 'f',
};

describe('a run as a command for a shell', () => {
  it('starts the same version through the same endpoint', () => {
    const started = { message: 'rivers', parameters: {} };
    for (const [mode, endpoint] of [
      ['execute', 'execute'],
      ['jobs', 'jobs'],
      ['step', 'step'],
      ['test', 'jobs'],
    ] as const)
      assert.match(startCommand(TARGET, mode, started), new RegExp(`/seq/demo/demo/hello/v3/${endpoint}'`));
  });

  it("has a body with the endpoint's fields and no empty ones", () => {
    const started = {
      message: 'm',
      parameters: { a: 1 },
      block_overrides: { b: {} },
      tools: [{}],
      toolChoice: null,
      attachments: [],
      maxCredits: 0.5,
      callbackUrl: 'https://example.com/hook',
      callbackEvents: null,
    };
    const { message, parameters, block_overrides, tools, maxCredits, callbackUrl } = started;
    const common = { message, parameters, maxCredits };
    assert.deepEqual(bodyOf(startCommand(TARGET, 'jobs', started)), {
      ...common,
      block_overrides,
      callbackUrl,
    });
    assert.deepEqual(bodyOf(startCommand(TARGET, 'execute', started)), { ...common, block_overrides, tools });
    assert.deepEqual(bodyOf(startCommand(TARGET, 'step', started)), {
      ...common,
      executionId: null,
      stepIndex: 0,
      blockOverrides: block_overrides,
      tools,
    });
  });

  it('runs the draft when the draft ran', () => {
    const draft = { ...TARGET, version: 0 };
    for (const [mode, endpoint] of [
      ['jobs', 'runs'],
      ['execute', 'execute'],
      ['step', 'step'],
    ] as const)
      assert.match(
        startCommand(draft, mode, { message: 'm' }),
        new RegExp(`/api/v1/projects/p/flows/f/draft/${endpoint}'`),
      );
  });

  it('is quoted for a shell, whatever the message contains', () => {
    for (const text of ['it\'s $(id) `id` "x" \\', "''", 'line\nline', '$HOME; rm -rf', '']) {
      assert.equal(execFileSync('sh', ['-c', `printf %s ${quoteForShell(text)}`]).toString(), text);
      assert.equal(bodyOf(startCommand(TARGET, 'jobs', { message: text })).message, text);
    }
  });
});

/** Returns the body that curl would send: the shell runs the command with a function in place of curl. */
function bodyOf(command: string): Record<string, unknown> {
  const script = `curl() { while [ "$1" != -d ]; do shift; done; printf %s "$2"; }\n${command}`;
  return JSON.parse(execFileSync('sh', ['-c', script]).toString());
}
