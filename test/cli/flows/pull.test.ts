// `weir flow pull`.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fail, weirIn } from '../cli-harness.ts';
import { block, flowFile, useFlowCli } from './flow-cli.ts';

describe('weir flow pull', () => {
  const { cli, at, write, read, flow, succeed, succeedJson, refused, editElsewhere } = useFlowCli();
  const flowOf = (slug: string) => `${cli.project}/${slug}`;

  it('makes the folder of the file, and says of what cannot be written why', async () => {
    await write('new.yaml', flowFile('new', 'return 1;'));
    await succeed('push', at('new.yaml'));
    await succeed('pull', flowOf('new'), at('made/deep/new.yaml'));
    assert.match(await read('made/deep/new.yaml'), /^slug: new$/m);
    for (const [target, why] of [
      ['made/deep', 'it is a folder: add the name of the file'],
      ['made/deep/', 'it is a folder: add the name of the file'],
      ['new.yaml/new.yaml', 'what should be its folder is a file'],
      ['new.yaml/deep/new.yaml', 'what should be its folder is a file'],
    ] as const)
      assert.equal(
        await refused('pull', flowOf('new'), at(target)),
        `${at(target)} cannot be written: ${why}.\n`,
      );
  });

  it('writes no file outside the folder for a service whose slugs are paths', async () => {
    const project = { id: randomUUID(), slug: 'main', name: 'Main' };
    const organization = { id: randomUUID(), slug: 'acme', name: 'Acme' };
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      const me = {
        kind: 'api_key',
        keyId: 'abcdefgh',
        name: 'ci',
        environment: 'live',
        organization,
        project,
      };
      const flows = [{ id: randomUUID(), projectId: project.id, slug: '../escaped', name: 'E' }];
      const isMe = request.url === '/api/v1/me';
      response.end(JSON.stringify(isMe ? me : { flows, steps: [], hasMore: false, nextCursor: null }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const env = { ...cli.env, WEIR_URL: `http://127.0.0.1:${port}` };
    const pulled = await fail(1, weirIn(env, ['flow', 'pull', 'acme/main', at('inside')]));
    await new Promise((resolve) => server.close(resolve));
    assert.match(pulled, /lists a flow whose slug "\.\.\/escaped" is not valid/);
    await assert.rejects(read('escaped.yaml'), { code: 'ENOENT' });
  });

  it('writes all flows of a project, each into the file that has its slug', async () => {
    await write('whole.yaml', flowFile('whole', 'return 1;'));
    await succeed('push', at('whole.yaml'));
    await mkdir(at('all'));
    await write('all/mine.yaml', flowFile('whole', 'return 1;'));
    const written = await succeedJson('pull', cli.project, at('all'));
    const files = written.map((one: { file: string }) => one.file);
    assert.ok(files.includes(at('all/mine.yaml')), files);
    assert.match(await read('all/flow.yaml'), /^slug: flow$/m);
    assert.match(await read('all/flow.tests.yaml'), /name: case/);
    assert.equal(new Set(files).size, files.length);
    const { code } = await flow('push', '--check', at('all'));
    assert.equal(code, 0);
  });

  it('does not replace a file that was edited and neither pushed nor committed', async () => {
    await write('mine.yaml', flowFile('mine', 'return 1;'));
    await succeed('push', at('mine.yaml'));
    await editElsewhere('mine', [block('assistant')]);
    await write('mine.yaml', flowFile('mine', 'return 2;'));
    assert.match(await refused('pull', flowOf('mine'), at('mine.yaml')), /neither pushed nor committed/);
    assert.match(await read('mine.yaml'), /return 2;/);
    await succeed('pull', flowOf('mine'), at('mine.yaml'), '--force');
    assert.match(await read('mine.yaml'), /assistant/);
    await editElsewhere('mine', [block('again')]);
    await succeed('pull', flowOf('mine'), at('mine.yaml'));
    assert.match(await read('mine.yaml'), /again/);
  });
});
