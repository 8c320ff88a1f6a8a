// The commands that work on flows, run as processes against a service, in a folder that is a git repository.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { IdentityProvider } from '../../fakes/identity-provider.ts';
import type { Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { fail, weirIn } from '../cli-harness.ts';

type FlowCli = {
  weir: Weir;
  provider: IdentityProvider;
  acme: Organization;
  /** org/project, where the files are pushed. */
  project: string;
  folder: string;
  env: { [name: string]: string };
};

/** Gives the enclosing `describe` a service, an organization, and a folder that is forgotten by no command until the end. */
export function useFlowCli() {
  const cli = {} as FlowCli;
  before(async () => {
    const shared = await getSharedWeir();
    cli.provider = shared.provider;
    cli.weir = shared;
    cli.acme = await createOrganization(cli.weir, cli.provider);
    cli.project = `${cli.acme.organization}/project`;
    cli.folder = await mkdtemp(path.join(tmpdir(), 'weir-flows-'));
    cli.env = {
      PATH: process.env.PATH ?? '',
      WEIR_URL: cli.weir.url,
      WEIR_TOKEN: cli.acme.token.member,
      WEIR_PROJECT: cli.project,
      XDG_STATE_HOME: path.join(cli.folder, 'state'),
    };
    git('init', '--quiet');
  });
  after(async () => {
    await rm(cli.folder, { recursive: true, force: true });
    await cli.weir.stop();
  });

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@acme.test', ...args], {
      cwd: cli.folder,
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
    });
  const at = (name: string) => path.join(cli.folder, name);
  const write = (name: string, text: string) => writeFile(at(name), text);
  const read = (name: string) => readFile(at(name), 'utf8');
  const flow = (...args: string[]) => weirIn(cli.env, ['flow', ...args]);

  /** Runs a command `weir flow …` that must succeed; returns its stdout. */
  async function succeed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await flow(...args);
    assert.equal(code, 0, stderr + stdout);
    assert.equal(stderr, '');
    return stdout;
  }
  const succeedJson = async (...args: string[]) => JSON.parse(await succeed(...args, '--json'));
  const refused = (...args: string[]) => fail(1, flow(...args));

  const http = (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) =>
    cli.weir.call(method, `/projects/${cli.acme.projectId}/flows${url}`, {
      key: cli.acme.token.member,
      body,
      headers,
    });
  /** Replaces the draft as somebody else would, over HTTP. */
  async function editElsewhere(slug: string, steps: unknown[]): Promise<void> {
    const { body } = await http('GET', '');
    const { id } = body.flows.find((one: { slug: string }) => one.slug === slug);
    assert.equal((await http('PUT', `/${id}/draft`, { steps }, { 'if-match': '*' })).status, 200);
  }

  return { cli, git, at, write, read, flow, succeed, succeedJson, refused, http, editElsewhere };
}

/** A flow file with code blocks. */
export function flowFile(slug: string, ...code: string[]): string {
  const steps = code.map(
    (text, at) => `  - step_id: step-${at}\n    processor_type: code\n    prompt: ${text}\n`,
  );
  return `# Written by hand.\nname: Flow ${slug}\nslug: ${slug}\nsteps:${steps.length === 0 ? ' []' : ''}\n${steps.join('')}`;
}

export const block = (step_id: string) => ({ step_id, processor_type: 'passthrough' });
