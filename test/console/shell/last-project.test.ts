import assert from 'node:assert/strict';
import { findLastProject, readLastSlugs, rememberProject } from '../../../console/shell/last-project.ts';

describe('the project where the console opens', () => {
  const { localStorage } = globalThis;
  beforeEach(() => {
    const stored = new Map<string, string>();
    const storage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => stored.set(key, value),
    };
    Object.assign(globalThis, { localStorage: storage });
  });
  after(() => Object.assign(globalThis, { localStorage }));

  const found = (places: { [org: string]: string[] }) => {
    const organizations = Object.entries(places).map(([slug, projects]) => ({
      slug,
      projects: projects.map((project) => ({ slug: project })),
    }));
    const { organization, project } = findLastProject({ organizations }) ?? {};
    return organization && project && `${organization.slug}/${project.slug}`;
  };

  it('is the last visited one', () => {
    rememberProject('mine', 'b');
    assert.deepEqual(readLastSlugs(), { org: 'mine', project: 'b' });
    assert.equal(found({ foreign: ['x'], mine: ['a', 'b'] }), 'mine/b');
  });

  it('is another one of the same organization when it is gone', () => {
    rememberProject('mine', 'b');
    assert.equal(found({ foreign: ['b'], mine: ['a'] }), 'mine/a');
    assert.equal(found({ foreign: ['b'], mine: [] }), 'foreign/b');
  });

  it('is the first of all when none was visited', () => {
    assert.equal(readLastSlugs(), undefined);
    assert.equal(found({ empty: [], foreign: ['x'], mine: ['a'] }), 'foreign/x');
    assert.equal(found({ empty: [] }), undefined);
  });
});
