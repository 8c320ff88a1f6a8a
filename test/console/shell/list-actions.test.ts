import assert from 'node:assert/strict';
import { listActions } from '../../../console/shell/palette-actions.ts';

describe('the actions of the palette', () => {
  const acme = { slug: 'acme', name: 'Acme' };
  const owner = { ...acme, role: 'owner' } as const;
  const project = { slug: 'demo', name: 'Demo' };
  const labels = (here: Parameters<typeof listActions>[0], text = '') =>
    listActions(here, text).map(({ label }) => label);

  it('have the text in their names, whatever its case', () => {
    assert.deepEqual(labels({ organization: owner, project }, 'KEY'), ['New API key', 'Set a model key']);
    assert.deepEqual(labels({ organization: owner, project }, 'nothing'), []);
  });

  it('are those that the role of the user allows', () => {
    const member = { ...acme, role: 'member' } as const;
    assert.deepEqual(labels({ organization: member, project }), ['New flow', 'Import a flow from a file']);
    for (const role of ['admin', 'owner'] as const)
      assert.deepEqual(labels({ organization: { ...acme, role }, project }), [
        ...labels({ organization: member, project }),
        ...['New API key', 'New project', 'Invite a member', 'Set a model key', 'Rotate the webhook secret'],
      ]);
  });

  it('include those of a flow on its pages only', () => {
    const ofFlow = labels({ organization: owner, project, flow: 'rivers' }, 'draft');
    assert.deepEqual(ofFlow, ['Try the draft', 'Publish the draft']);
    assert.deepEqual(labels({ organization: owner, project }, 'draft'), []);
    assert.deepEqual(labels({ organization: owner }, 'flow'), []);
  });

  it('say where they apply, and lead there', () => {
    const [action] = listActions({ organization: owner, project, flow: 'rivers' }, 'publish');
    assert.equal(action?.detail, 'Action · rivers');
    assert.deepEqual(action?.params, { org: 'acme', project: 'demo', flow: 'rivers' });
    assert.deepEqual(action?.search, { open: 'publish' });
  });
});
