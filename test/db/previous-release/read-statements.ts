import { readFileSync } from 'node:fs';
import path from 'node:path';

export const STATEMENTS_FILE = path.join(import.meta.dirname, 'statements.sql');

type Release = { head: string; newestMigration: string; statements: string[] };

/** Reads the statements of the release before, and the number of its newest migration. */
export function readStatements(): Release {
  const [head = '', ...statements] = readFileSync(STATEMENTS_FILE, 'utf8').split(/;\n\n?|\n\n/);
  return {
    head,
    newestMigration: /newest migration is (\d+)/.exec(head)?.[1] ?? '',
    statements: statements.filter((text) => text !== ''),
  };
}
