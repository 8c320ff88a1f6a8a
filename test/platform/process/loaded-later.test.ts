// Packages that a process loads when it needs them: what it imports from the first stays in its memory.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../../..');
const IMPORT = /^(?:import|export) (?!type )(?:[^'";]*? from )?'(?<from>[^']+)';/gm;

/** Returns the packages that a file imports, and those that what it imports does, except by `import()`. */
function packagesOf(file: string): Set<string> {
  const packages = new Set<string>();
  const read = new Set<string>();
  const visit = (at: string): void => {
    if (read.has(at) || !at.endsWith('.ts')) return;
    read.add(at);
    for (const { groups } of readFileSync(at, 'utf8').matchAll(IMPORT)) {
      const from = groups?.from ?? '';
      if (from.startsWith('.')) visit(path.join(path.dirname(at), from));
      else packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from);
    }
  };
  visit(path.join(root, file));
  return packages;
}

describe('What is loaded later', () => {
  const cases: [string, string, { not: string[] }][] = [
    [
      'dev/start.ts',
      'zod',
      { not: ['node:http', 'pg', 'kysely', 'oidc-provider', 'jose', '@temporalio/client'] },
    ],
    ['cli/weir.ts', 'commander', { not: ['zod', 'yaml', 'pg', 'kysely', 'pino', 'openid-client'] }],
    ['cli/sign-in/login.ts', 'zod', { not: ['yaml', 'pg', 'kysely', 'pino'] }],
    ['cli/commands/keys.ts', 'zod', { not: ['yaml', 'pg', 'kysely', 'pino'] }],
    ['api/app.ts', 'koa', { not: ['@modelcontextprotocol/server'] }],
  ];
  for (const [file, needed, { not }] of cases)
    it(`${file} imports ${needed}, and neither by itself nor through others ${not.join(', ')}`, () => {
      const packages = packagesOf(file);
      assert.ok(packages.has(needed));
      assert.deepEqual(
        not.filter((name) => packages.has(name)),
        [],
      );
    });
});
