import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { actionName, actionOptions } from '../../../console/settings/audit-actions.ts';
import { dropSaved } from '../../../console/settings/drop-saved.ts';
import { groupModels } from '../../../console/settings/group-models.ts';
import { expiryOf } from '../../../console/settings/key-expiry.ts';
import { readAuditSearch, readLedgerSearch, sinceOf } from '../../../console/settings/search.ts';

const NOW = Date.parse('2026-11-23T02:20:30.500Z');

describe('the expiry of a new API key', () => {
  it('is null for never', () => assert.equal(expiryOf('never', '', NOW), null));
  it('is some days from now', () => assert.equal(expiryOf('7', '', NOW), '2026-11-30T02:20:30.500Z'));
  it('is at the end of a day', () =>
    assert.equal(expiryOf('date', '2027-01-31', NOW), new Date('2027-01-31T23:59:59').toISOString()));
  it('is undefined until a day is chosen', () => assert.equal(expiryOf('date', '', NOW), undefined));
});

describe('the time range of the audit log', () => {
  it('begins at a full hour, so that the list is not fetched again each moment', () =>
    assert.equal(sinceOf('day', NOW), '2026-11-22T02:00:00.000Z'));
  it('is open for any time', () => assert.equal(sinceOf(undefined, NOW), undefined));
});

describe('the actions of the audit log', () => {
  const ROOT = path.join(import.meta.dirname, '../../..');
  const recorded = globSync('{api,db}/**/*.ts', { cwd: ROOT })
    .flatMap((file) => readFileSync(path.join(ROOT, file), 'utf8').match(/\baction\b.*/g) ?? [])
    .flatMap((line) => line.match(/(?<=')[a-z_]+\.[a-z_]+(?=')/g) ?? []);

  it('have words, whichever of them the service records', () => {
    assert.ok(recorded.includes('flow.set_production'));
    assert.deepEqual(
      recorded.filter((action) => actionName(action) === action),
      [],
    );
  });

  it('are listed to filter by, with an unknown one of the address', () => {
    const ids = actionOptions('moon.land').map(({ id }) => id);
    assert.deepEqual(
      [...recorded, 'moon.land'].filter((action) => !ids.includes(action)),
      [],
    );
  });
});

describe('the unsaved values of a form', () => {
  const typed = { name: 'Typed', description: 'Typed, too' };
  it('are those of the fields that were not saved', () => {
    assert.deepEqual(dropSaved<Partial<typeof typed>>(typed, { name: 'Typed' }), {
      description: 'Typed, too',
    });
    assert.deepEqual(dropSaved({ name: 'Typed' }, { name: 'Typed' }), {});
  });
  it('stay the same object when nothing was saved', () => {
    assert.equal(dropSaved<Partial<typeof typed>>(typed, { name: 'Sent' }), typed);
    assert.equal(dropSaved(typed, { name: 'Named', description: '' }), typed);
  });
});

describe('models by provider', () => {
  it('have the key that pays for them, and the stored key', () => {
    const models = [
      { model: 'openai/gpt-5', key: 'organization' },
      { model: 'openai/gpt-5-mini', key: 'organization' },
      { model: 'demo/echo', key: 'service' },
    ] as const;
    const own = { provider: 'openai', keyPreview: '…abcd' };
    const gone = { provider: 'gone', keyPreview: '…wxyz' };
    assert.deepEqual(groupModels(models, [own, gone]), [
      { provider: 'demo', models: ['demo/echo'], paidWith: 'service', key: undefined },
      { provider: 'gone', models: [], paidWith: null, key: gone },
      {
        provider: 'openai',
        models: ['openai/gpt-5', 'openai/gpt-5-mini'],
        paidWith: 'organization',
        key: own,
      },
    ]);
  });
});

describe('the filters of the settings in the address', () => {
  it('keep known values and drop the rest', () => {
    assert.deepEqual(readLedgerSearch({ kind: 'grant', x: 1 }), { kind: 'grant' });
    assert.deepEqual(readLedgerSearch({ kind: 'theft' }), {});
    assert.deepEqual(readAuditSearch({ actor: 'ann', action: 3, since: 'week' }), {
      actor: 'ann',
      since: 'week',
    });
    assert.deepEqual(readAuditSearch({ since: 'toString' }), {});
  });
});
