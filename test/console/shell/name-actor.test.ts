import assert from 'node:assert/strict';
import { nameActor } from '../../../console/shell/name-actor.ts';

describe('the name of who changed something', () => {
  const name = (actor: string) => nameActor(actor, new Map([['k3y', 'CI']]), (id) => `user ${id}`);

  it('is the name of an API key, or its id to those who may not list keys', () => {
    assert.deepEqual([name('api_key/k3y'), name('api_key/0th3r')], ['key CI', 'key 0th3r']);
  });

  it('tells users, keys of operators and the service apart', () => {
    assert.deepEqual(['auth0|1', 'operator/o9', 'service'].map(name), [
      'user auth0|1',
      'operator key o9',
      'the service',
    ]);
  });
});
