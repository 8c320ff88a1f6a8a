import assert from 'node:assert/strict';
import { fairShareOf } from '../../engine/start-run.ts';
import { SLUG_MAX_LENGTH, SLUG_PATTERN } from '../../flow/limits.ts';

describe('the fairness keys of an organization', () => {
  const SLUGS = ['acme', 'a-1', '1a', '42', '32', '4-2', '0', '9'.repeat(SLUG_MAX_LENGTH)];
  const keysOf = (organization: string) =>
    (['execute', 'jobs'] as const).map((mode) => fairShareOf({ organization, mode }).fairnessKey ?? '');

  it('are its slug for runs that a caller waits for, and the slug of nobody for its jobs', () => {
    for (const slug of SLUGS) {
      const [awaited, jobs = ''] = keysOf(slug);
      assert.equal(awaited, slug);
      assert.doesNotMatch(jobs, SLUG_PATTERN);
      assert.equal(jobs.length, slug.length);
    }
    assert.equal(keysOf('acme')[1], 'ACME');
  });

  it('are those of no other organization', () => {
    const digits = Array.from({ length: 10 }, (_, digit) => `${digit}-7`);
    const all = [...SLUGS, ...digits].flatMap(keysOf);
    assert.equal(new Set(all).size, all.length);
  });
});
