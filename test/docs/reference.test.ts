import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { makeReference, PAGE } from '../../docs/write-reference.ts';
import { ERROR_CODES } from '../../flow/errors.ts';
import { PROVIDER_VARIABLES } from '../../platform/config/providers.ts';
import { variables } from '../../platform/config/variables.ts';

describe('docs/reference.md', () => {
  const text = readFileSync(PAGE, 'utf8');

  it('is what npm run reference writes', () => {
    assert.equal(text, makeReference(), 'Write docs/reference.md anew: npm run reference');
  });

  it('has a row for each error code and each variable', () => {
    const names = [...ERROR_CODES, ...Object.keys(variables.shape), ...PROVIDER_VARIABLES];
    const rows = text.split('\n').filter((line) => line.startsWith('| `'));
    const missing = names.filter((name) => !rows.some((row) => firstCell(row).includes(`\`${name}\``)));
    assert.deepEqual(missing, []);
  });

  it('has no empty cell', () => {
    assert.doesNotMatch(text, /\| *\|/);
    assert.doesNotMatch(text, /undefined|NaN/);
  });
});

function firstCell(row: string): string {
  return row.split(' | ', 1)[0] ?? '';
}
