import assert from 'node:assert/strict';
import { listPlaces } from '../../../console/shell/palette-places.ts';

describe('the pages to go to', () => {
  const [demo, shop] = [
    { slug: 'demo', name: 'Demo' },
    { slug: 'shop', name: 'Shop' },
  ];
  const organizations = [{ slug: 'acme', name: 'Acme', projects: [demo, shop] }];
  const here = { organization: { slug: 'acme', name: 'Acme' }, project: demo };
  const labels = (text: string) => listPlaces({ organizations }, here, text).map(({ label }) => label);

  it('have the text in their names, whatever its case', () => {
    assert.deepEqual(labels('KEY'), ['API keys', 'Model keys']);
    assert.deepEqual(labels('nothing'), []);
  });

  it('are those of the current project, and other projects', () => {
    assert.ok(labels('').includes('Runs'));
    assert.deepEqual(labels('shop'), ['Shop']);
    const withoutProject = listPlaces({ organizations }, undefined, '');
    assert.deepEqual(
      withoutProject.map(({ label }) => label),
      ['Account', 'Demo', 'Shop'],
    );
  });
});
