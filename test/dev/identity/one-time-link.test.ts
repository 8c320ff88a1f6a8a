import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createOneTimeLink } from '../../../dev/identity/one-time-link.ts';

const TEN_MINUTES = 10 * 60_000;
const digestOf = (secret: string) => createHash('sha256').update(secret).digest('base64url');

describe('the secret of a one-time link', () => {
  it('counts once', () => {
    const link = createOneTimeLink();
    const digest = digestOf(link.issue());
    assert.deepEqual([link.redeem(digest), link.redeem(digest)], [true, false]);
  });

  it('counts for ten minutes', () => {
    let now = 0;
    const link = createOneTimeLink(() => now);
    const first = digestOf(link.issue());
    now = TEN_MINUTES - 1;
    assert.equal(link.redeem(first), true);
    const second = digestOf(link.issue());
    now += TEN_MINUTES;
    assert.equal(link.redeem(second), false);
    now -= 1;
    assert.equal(link.redeem(second), false, 'one that came too late is used up');
  });

  it('is not its digest, nor that of another link, nor one that another has replaced', () => {
    const [link, other] = [createOneTimeLink(), createOneTimeLink()];
    const secret = link.issue();
    assert.equal(link.redeem(secret), false);
    assert.equal(link.redeem(digestOf(digestOf(secret))), false);
    assert.equal(link.redeem(digestOf(other.issue())), false);
    assert.equal(link.redeem(''), false);
    const replaced = digestOf(secret);
    link.issue();
    assert.equal(link.redeem(replaced), false);
  });

  it('is counted by nobody before there is one', () => {
    assert.equal(createOneTimeLink().redeem(digestOf('')), false);
  });

  it('is different each time and cannot be guessed: 256 random bits', () => {
    const link = createOneTimeLink();
    const [first, second] = [link.issue(), link.issue()];
    assert.notEqual(first, second);
    assert.equal(Buffer.from(first, 'base64url').length, 32);
  });
});
