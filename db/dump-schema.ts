// main of `npm run schema-dump`: writes schema.sql, the schema that the migrations make of an empty database.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { connect, type Db } from './connect.ts';
import { migrate } from './migrate.ts';

export const SCHEMA_FILE = path.join(import.meta.dirname, 'schema.sql');

const HEADER = `-- Written by \`npm run schema-dump\` from the database that the migrations make. Not for editing.\n`;

type Table = { name: string; kind: string; columns: string[]; constraints: string[] };

/** Describes the schema `public` of a migrated database as sorted SQL text, without Kysely's own tables. */
export async function dumpSchema(db: Db): Promise<string> {
  const functions = await definitions(
    db,
    sql`select pg_get_functiondef(oid) as definition from pg_proc
      where pronamespace = 'public'::regnamespace`,
  );
  const { rows: tables } = await sql<Table>`
    select c.relname as name,
      case c.relpersistence when 'u' then 'UNLOGGED TABLE' else 'TABLE' end as kind,
      array(
        select quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
          || case when a.attidentity = 'a' then ' generated always as identity' else '' end
          || case when a.attnotnull then ' not null' else '' end
          || coalesce(case when a.attgenerated = '' then ' default ' || pg_get_expr(d.adbin, d.adrelid)
            else ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored' end, '')
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
      ) as columns,
      -- PostgreSQL 18 also lists the not-null constraints, which the columns show already.
      array(
        select 'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid)
        from pg_constraint where conrelid = c.oid and contype not in ('n', 't', 'f') order by conname
      ) as constraints
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname not like 'kysely%'
    order by c.relname`.execute(db);
  const indexes = await definitions(
    db,
    sql`select pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indrelid
      where c.relnamespace = 'public'::regnamespace and c.relname not like 'kysely%'
        and not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))`,
  );
  const foreignKeys = await definitions(
    db,
    sql`select 'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || quote_ident(conname) || ' '
        || pg_get_constraintdef(oid) as definition
      from pg_constraint where connamespace = 'public'::regnamespace and contype = 'f'`,
  );
  const triggers = await definitions(
    db,
    sql`select pg_get_triggerdef(t.oid) as definition from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = 'public'::regnamespace and not t.tgisinternal`,
  );
  const statements = [...functions, ...tables.map(tableDefinition), ...indexes, ...foreignKeys, ...triggers];
  return `${HEADER}\n${statements.map((statement) => `${statement.trim()};\n`).join('\n')}`;
}

async function definitions(db: Db, query: ReturnType<typeof sql>): Promise<string[]> {
  const { rows } = await (query as ReturnType<typeof sql<{ definition: string }>>).execute(db);
  // Sorted here, since the server's order depends on its collation.
  return rows.map((row) => row.definition).sort();
}

function tableDefinition(table: Table): string {
  return `CREATE ${table.kind} ${table.name} (\n  ${[...table.columns, ...table.constraints].join(',\n  ')}\n)`;
}

async function dumpFromScratch(serverUrl: string): Promise<string> {
  const name = `weir_schema_${randomBytes(6).toString('hex')}`;
  const url = new URL(serverUrl);
  url.pathname = name;
  const server = connect(serverUrl, 1);
  const scratch = connect(url.href, 2);
  try {
    await sql`create database ${sql.id(name)}`.execute(server);
    await migrate(scratch);
    return await dumpSchema(scratch);
  } finally {
    await scratch.destroy();
    await sql`drop database if exists ${sql.id(name)}`.execute(server);
    await server.destroy();
  }
}

if (process.argv[1] === import.meta.filename) {
  const serverUrl = process.env.TEST_DATABASE_URL ?? process.env.DATABASE_URL;
  if (serverUrl) await writeFile(SCHEMA_FILE, await dumpFromScratch(serverUrl));
  else {
    console.error(
      'Set TEST_DATABASE_URL or DATABASE_URL to a server on which schema-dump may make a scratch database.',
    );
    process.exitCode = 1;
  }
}
