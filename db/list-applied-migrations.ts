type Client = { query(text: string): Promise<{ rows: { name: string }[] }> };

/** Lists the names of the applied migrations; none for a database without a schema. */
export async function listAppliedMigrations(client: Client): Promise<string[]> {
  const { rows: tables } = await client.query(`select where to_regclass('kysely_migration') is not null`);
  if (tables.length === 0) return [];
  const { rows } = await client.query('select name from kysely_migration order by name');
  return rows.map(({ name }) => name);
}
