import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { keepLocks, lockWaiters } from '../../db/lock-waiters.ts';
import { fail, ROOT, useOperator, weirIn } from '../cli-harness.ts';

describe('weir operator', () => {
  const { cli, weir, succeed, succeedJson } = useOperator();

  describe('flow', () => {
    const example = path.join(ROOT, 'examples/parallel.yaml');

    it('imports, publishes, sets production, and exports a file that imports as the same flow', async () => {
      const args = ['flow', 'import', example, '--project', 'acme/main'];
      const first = await succeedJson(...args, '--note', 'first', '--production');
      const created = { flow: 'acme/main/parallel', created: true, version: 1, production: true };
      assert.deepEqual(first, { ...created, changes: [], notes: [] });
      const exported = await succeed('flow', 'export', 'acme/main/parallel', '--version', '1');
      assert.match(exported, /^description: /m);
      const again = await weirIn(
        cli.env,
        ['operator', 'flow', 'import', '-', '--project', 'acme/main', '--json'],
        exported,
      );
      assert.equal(JSON.parse(again.stdout).created, false);
      assert.equal(await succeed('flow', 'export', 'acme/main/parallel'), exported);
      const file = path.join(cli.folder, 'flow.json');
      await writeFile(file, await succeed('flow', 'export', 'acme/main/parallel', '--format', 'json'));
      await succeed('flow', 'import', file, '--project', 'acme/main');
      assert.equal(await succeed('flow', 'export', 'acme/main/parallel'), exported);

      await succeed('flow', 'publish', 'acme/main/parallel', '--note', 'second');
      await succeed('flow', 'promote', 'acme/main/parallel', '2');
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

    it('notes models for which it sees no key', async () => {
      const block = 'processor_type: llm\n    prompt: x\n    model: anthropic/claude';
      const file = `name: K\nslug: keyless\nsteps:\n  - step_id: ask\n    ${block}\n`;
      const importing = ['operator', 'flow', 'import', '-', '--project', 'acme/main'];
      const { ANTHROPIC_BASE_URL: _, ...others } = cli.env;
      const keyless = { ...others, ANTHROPIC_API_KEY: '' };
      const { stdout } = await weirIn(keyless, importing, file);
      assert.match(stdout, /^Created flow.*\nNote: ask asks anthropic\/claude, .*ANTHROPIC_API_KEY/);
      const keyed = { ...keyless, ANTHROPIC_API_KEY: 'k' };
      assert.doesNotMatch((await weirIn(keyed, importing, file)).stdout, /Note:/);
    });

    it('changes nothing at an import that fails for a variable of a provider', async () => {
      const file = `name: U\nslug: unmade\nsteps:\n  - step_id: a\n    processor_type: passthrough\n`;
      const importing = ['operator', 'flow', 'import', '-', '--project', 'acme/main', '--production'];
      const wrong = { ...cli.env, OPENAI_API_KEY: 'sk-abc ' };
      assert.match(await fail(1, weirIn(wrong, importing, file)), /OPENAI_API_KEY has a space/);
      assert.doesNotMatch(await succeed('flow', 'list', 'acme/main'), /unmade/);
    });

    it('says what an import changed in a draft that was there', async () => {
      const file = (prompt: string) =>
        `name: R\nslug: replaced\nsteps:\n  - { step_id: s, processor_type: code, prompt: ${prompt} }\n`;
      const importing = ['operator', 'flow', 'import', '-', '--project', 'acme/main'];
      const first = await weirIn(cli.env, importing, file('return 1'));
      assert.match(first.stdout, /^Created flow acme\/main\/replaced\.\n$/);
      const second = await weirIn(cli.env, importing, file('return 2'));
      assert.match(second.stdout, /^Replaced .*\nThis changed:\n {2}s\.prompt: "return 1" → "return 2"\n$/);
    });

    it('notes fields that have no effect', async () => {
      const file = `name: V\nslug: in-vain\nsteps:\n  - { step_id: pass, processor_type: passthrough, model: nobody/x }\n`;
      const { stdout } = await weirIn(
        cli.env,
        ['operator', 'flow', 'import', '-', '--project', 'acme/main'],
        file,
      );
      assert.match(stdout, /^Created flow.*\nNote: pass is a passthrough block, .*no effect: model\.\n$/);
    });

    it('refuses a note that belongs to no version', async () => {
      const args = ['flow', 'import', example, '--project', 'acme/main', '--note', 'x'];
      assert.match(await fail(2, weir(...args)), /give --publish or --production too/);
    });

    it('names the problems of a file by line and path, and changes nothing', async () => {
      const wrong = 'name: W\nslug: wrong\nsteps:\n  - promt: x\n    processor_type: llm\n';
      const import_ = ['operator', 'flow', 'import', '-', '--project', 'acme/main', '--publish'];
      const shape = await fail(1, weirIn(cli.env, import_, wrong));
      assert.match(
        shape,
        /^line 4: steps\[0\]\.promt: This field is not allowed here\. Did you mean prompt\?$/m,
      );
      const tree = await fail(1, weirIn(cli.env, import_, wrong.replace('promt', 'prompt')));
      assert.match(tree, /^line 4: steps\[0\]\.model: An llm block needs a model/m);
      const schema = wrong.replace('promt: x', 'outputSchema: { type: nope }').replace('llm', 'passthrough');
      assert.match(await fail(1, weirIn(cli.env, import_, schema)), /^line 4: steps\[0\]\.outputSchema: /m);
      assert.match(await fail(1, weir('flow', 'export', 'acme/main/wrong')), /no flow acme\/main\/wrong/);
      assert.match(
        await fail(1, weir('flow', 'import', 'nowhere.yaml', '--project', 'acme/main')),
        /nowhere\.yaml cannot be read: the file does not exist/,
      );
    });

    it('publishes no draft that somebody changes while it is checked', async () => {
      const { db } = cli.database;
      const flow = 'acme/main/parallel';
      const { publishing } = await db.transaction().execute(async (tx) => {
        await keepLocks(tx);
        await tx
          .updateTable('flow')
          .set({ draft: JSON.stringify({ steps: [] }) })
          .where('slug', '=', 'parallel')
          .execute();
        const publishing = weir('flow', 'publish', flow, '--note', 'unseen');
        // It has read and checked the draft that was there before.
        await lockWaiters(db, 1);
        return { publishing };
      });
      assert.match(
        await fail(1, publishing),
        /changed the draft of acme\/main\/parallel while it was checked/,
      );
      const versions = await succeedJson('flow', 'versions', flow);
      assert.ok(versions.every(({ note }: { note: string }) => note !== 'unseen'));
    });

    it('refuses an unknown version for production, and a draft that cannot run', async () => {
      assert.match(await fail(1, weir('flow', 'promote', 'acme/main/parallel', '9')), /version 9/);
      await cli.database.db
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
});
