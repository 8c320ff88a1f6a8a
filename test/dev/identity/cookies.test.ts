import assert from 'node:assert/strict';
import { useIdentityProvider } from './identity-harness.ts';

describe('the cookies of the embedded identity provider', () => {
  const one = useIdentityProvider();
  const other = useIdentityProvider();

  it('have other names in each state folder: browsers send those of a host to all of its ports', async () => {
    const [first, second] = await Promise.all(
      [one, other].map(async ({ authorizeUrl }) => {
        const { headers } = await fetch(authorizeUrl('weir-local'), { redirect: 'manual' });
        return headers.getSetCookie().map((line) => line.split('=')[0] ?? '');
      }),
    );
    assert.ok(first && second && first.length > 0 && second.length > 0);
    assert.deepEqual(
      first.filter((name) => second.includes(name)),
      [],
    );
  });
});
