import assert from 'node:assert/strict';
import { listNextSteps } from '../../../console/home/list-next-steps.ts';

type Known = Parameters<typeof listNextSteps>[0];

const fresh: Known = {
  sawRun: false,
  flows: [{ latestVersion: 1, draftIsPublished: true }],
  hasTried: false,
  keys: [{ createdBy: null, lastUsedAt: '2026-11-23T01:28:28.907Z' }],
  assistants: 0,
};

function listDone(known: Partial<Known>): string[] {
  return listNextSteps({ ...fresh, ...known })
    .filter(({ isDone }) => isDone)
    .map(({ id }) => id);
}

describe("a newcomer's next steps", () => {
  it('are all to do after a first start', () => assert.deepEqual(listDone({}), []));

  const cases: [title: string, known: Partial<Known>, done: string[]][] = [
    ['a run was looked at', { sawRun: true }, ['run']],
    ['a draft differs', { flows: [{ latestVersion: 1, draftIsPublished: false }] }, ['change']],
    [
      'a second version is out',
      { flows: [{ latestVersion: 2, draftIsPublished: true }] },
      ['change', 'publish'],
    ],
    ['a user has tried a flow', { hasTried: true }, ['try']],
    [
      'a key of a user was used',
      { keys: [{ createdBy: 'ann', lastUsedAt: '2026-11-23T02:00:00Z' }] },
      ['call'],
    ],
    ['a key of a user waits', { keys: [{ createdBy: 'ann', lastUsedAt: null }] }, []],
    ['an assistant is connected', { assistants: 1 }, ['assistant']],
  ];
  for (const [title, known, done] of cases)
    it(`are done when ${title}`, () => assert.deepEqual(listDone(known), done));

  it('have no keys for a member, who cannot create any', () => {
    const ids = listNextSteps({ ...fresh, keys: undefined }).map(({ id }) => id);
    assert.deepEqual(ids, ['run', 'change', 'try', 'publish', 'assistant']);
  });
});
