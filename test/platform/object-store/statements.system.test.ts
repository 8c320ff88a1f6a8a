import assert from 'node:assert/strict';
import pg from 'pg';
import { code } from '../../blocks.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

type Statement = { text: string; values: unknown[] };

/** Collects every statement of this process until `stop` is called. */
function collectStatements(): { statements: Statement[]; stop(): void } {
  const statements: Statement[] = [];
  const { query } = pg.Client.prototype;
  const collect = function (this: pg.Client, ...args: unknown[]) {
    const [text, values] = args;
    if (typeof text === 'string' && Array.isArray(values)) statements.push({ text, values });
    return Reflect.apply(query, this, args);
  };
  pg.Client.prototype.query = collect as typeof query;
  return {
    statements,
    stop() {
      pg.Client.prototype.query = query;
    },
  };
}

describeWithS3('the statements about the blocks of a run', function () {
  this.timeout(BUILD_MAX_MS);
  let server: S3Server;
  let off: Weir;
  let on: Weir;
  let collected: ReturnType<typeof collectStatements>;
  before(async () => {
    server = await startS3Server();
    [off, on] = await Promise.all([startWeir(), startWeir({ env: server.env })]);
    collected = collectStatements();
  });
  after(async () => {
    collected.stop();
    await Promise.all([off.stop(), on.stop()]);
    await server.stop();
  });

  /**
   * Runs three blocks, of which two put out so many bytes; returns the statements about them, sorted, without those that show
   * a block that happens to be slow.
   */
  async function statementsOf(weir: Weir, bytes: number): Promise<string[]> {
    const tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, [
      code('one', `return ''.padEnd(${bytes}, 'x');`),
      code('two', 'return input;'),
      code('three', 'return input.length;'),
    ]);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
    assert.deepEqual([body.status, body.result], ['completed', bytes], body.errorMessage);
    return collected.statements
      .filter(({ values }) => JSON.stringify(values).includes(body.executionId))
      .map(({ text }) => text)
      .filter((text) => /block_run|stored_object/.test(text) && !text.includes('block_under_way'))
      .sort();
  }
  const isInsert = (text: string) => text.startsWith('insert into "stored_object"');

  it('are the same without an object store and with one, for what is not stored there', async () => {
    const without = await statementsOf(off, 1_000);
    assert.ok(without.length >= 3);
    assert.ok(!without.some(isInsert));
    assert.deepEqual(await statementsOf(on, 1_000), without);
  });

  it('are one more for each output that is', async () => {
    const without = await statementsOf(off, 300_000);
    const withStore = await statementsOf(on, 300_000);
    assert.equal(withStore.filter(isInsert).length, 2);
    // The record of the block links the object in the same statement.
    assert.equal(withStore.length, without.length + 2);
  });
});
