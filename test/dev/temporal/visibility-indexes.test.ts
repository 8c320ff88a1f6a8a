import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, Connection } from '@temporalio/client';
import { readSearchColumns } from '../../../dev/temporal/database-file.ts';
import { startTemporal, type Temporal } from '../../../dev/temporal/temporal.ts';
import { SEARCH_ATTRIBUTES } from '../../../flow/run.ts';
import { waitUntil } from '../../wait-until.ts';

describe("indexes of the embedded Temporal's visibility records", () => {
  let stateFolder: string;
  let temporal: Temporal | undefined;
  const notes: string[] = [];
  const start = () => startTemporal({ stateFolder, durable: false, note: (line) => notes.push(line) });
  const withFile = <T>(use: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(path.join(stateFolder, 'temporal.db'), { timeout: 5_000 });
    try {
      return use(database);
    } finally {
      database.close();
    }
  };
  const indexes = () =>
    withFile((database) =>
      database
        .prepare(
          "select name from sqlite_schema where type = 'index' and tbl_name = 'executions_visibility' and sql is not null",
        )
        .all()
        .map(({ name }) => String(name)),
    );
  /** Finds the column that Temporal has picked for each search attribute, such as `Keyword01`. */
  async function columns(): Promise<Map<string, string>> {
    const connection = await Connection.connect({ address: temporal?.address ?? '' });
    try {
      const { config } = await connection.workflowService.describeNamespace({ namespace: 'default' });
      return new Map(
        Object.entries(config?.customSearchAttributeAliases ?? {}).map(([column, name]) => [name, column]),
      );
    } finally {
      await connection.close();
    }
  }
  const indexOf = (column: string) => `by_${column.toLowerCase().replace(/\d\d$/, '_$&')}`;
  const used = async () =>
    [
      ...['by_status', 'by_workflow_id', 'by_workflow_type', 'default_idx'],
      ...[...(await columns()).values()].map(indexOf),
    ].sort();

  before(async () => {
    stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-indexes-'));
    temporal = await start();
  });

  after(async () => {
    await temporal?.stop();
    rmSync(stateFolder, { recursive: true, force: true });
  });

  it('has those of the columns that workflows are searched by, from the first start', async () => {
    assert.equal((await columns()).size, Object.keys(SEARCH_ATTRIBUTES).length);
    assert.deepEqual(indexes().sort(), await used());
  });

  it('drops the others of a file that has them already, at the next start', async () => {
    await temporal?.stop();
    withFile((database) => {
      for (const column of ['task_queue', 'keyword_05', 'keyword_08', 'int_03'])
        database.exec(
          `create index if not exists by_${column} on executions_visibility (namespace_id, ${column.replace(/_(?=\d)/, '')})`,
        );
    });
    temporal = await start();
    assert.deepEqual(indexes().sort(), await used());
    assert.deepEqual(notes, []);
  });

  it('keeps those of all columns that search attributes may have while some of Weir’s have none, or it cannot be told', () => {
    const described = (aliases: Record<string, string>) =>
      readSearchColumns(JSON.stringify({ config: { customSearchAttributeAliases: aliases } }));
    const names = Object.keys(SEARCH_ATTRIBUTES);
    const aliases = Object.fromEntries(names.map((name, index) => [`Keyword0${index + 1}`, name]));
    assert.equal(described(aliases)?.[0], 'keyword_01');
    assert.equal(described(aliases)?.length, names.length);
    const { Keyword01: _, ...fewer } = aliases;
    for (const columns of [described(fewer), described({}), readSearchColumns('{}'), readSearchColumns('')])
      assert.equal(columns, undefined);
  });

  it('lets SQLite look up workflows by what they are searched by, instead of looking at all', async () => {
    const organization = (await columns()).get('WeirOrganization') ?? '';
    // As Temporal writes it: for every search it adds the namespace and the division.
    const planOf = (condition: string) =>
      withFile((database) =>
        database
          .prepare(
            'explain query plan select count(*) from executions_visibility ' +
              `where namespace_id = 'n' and (${condition}) and TemporalNamespaceDivision is null`,
          )
          .all()
          .map(({ detail }) => String(detail)),
      );
    for (const [condition, index] of [
      ["close_time is null and workflow_id in ('a', 'b')", 'by_workflow_id'],
      ["status = 1 and workflow_type_name = 'runFlow' and task_queue = 'weir-flows'", 'by_status'],
      [`${organization} = 'acme'`, indexOf(organization)],
    ] as const) {
      const [step = '', ...others] = planOf(condition);
      assert.match(step, new RegExp(`USING (COVERING )?INDEX ${index} \\(namespace_id=\\? AND`), condition);
      assert.deepEqual(others, []);
    }
  });

  it('finds workflows by columns with and without an index', async () => {
    const connection = await Connection.connect({ address: temporal?.address ?? '' });
    try {
      const client = new Client({ connection });
      const searchAttributes = { WeirOrganization: ['acme'], WeirVersion: [3] };
      const start = { taskQueue: 'nobody', workflowId: 'found', searchAttributes };
      await client.workflow.start('none', start);
      for (const query of [
        "WeirOrganization = 'acme' and WeirVersion = 3",
        "TaskQueue = 'nobody'",
        "WorkflowType = 'none' and ExecutionStatus = 'Running'",
        'HistoryLength > 0 or ExecutionStatus = "Running"',
      ])
        await waitUntil(async () => (await client.workflow.count(query)).count === 1);
    } finally {
      await connection.close();
    }
  });
});
