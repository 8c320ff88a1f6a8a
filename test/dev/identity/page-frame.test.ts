import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { escapeHtml, sendPage } from '../../../dev/identity/pages.ts';

describe('a page of the embedded identity provider', () => {
  const send = (title: string, body: string, script?: string) => {
    const headers: { [name: string]: string } = {};
    const ctx = { set: (given: object) => Object.assign(headers, given), type: '', body: '' };
    sendPage(ctx as unknown as Context, title, body, script);
    return { headers, policy: headers['Content-Security-Policy'] ?? '', page: ctx.body };
  };
  const hashOf = (tag: string, page: string) => {
    const content = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(page)?.[1] ?? '';
    return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
  };

  it('has its own style, no script, nothing from elsewhere, and no frame around it', () => {
    const { headers, policy, page } = send('Sign in', '<p>Hello</p>');
    assert.equal(
      policy,
      `default-src 'none'; style-src ${hashOf('style', page)}; base-uri 'none'; frame-ancestors 'none'`,
    );
    assert.deepEqual(
      [headers['Cache-Control'], headers['Referrer-Policy'], headers['X-Frame-Options']],
      ['no-store', 'no-referrer', 'DENY'],
    );
    assert.doesNotMatch(page, /<script|<link|<img|style="|https?:/);
  });

  it('runs the one script that it was given', () => {
    const { policy, page } = send('Signing out', '', 'void 0');
    assert.ok(policy.includes(`script-src ${hashOf('script', page)}; `), policy);
  });

  it('shows text as text', () => {
    assert.match(send('<b>"&', '').page, /<h1>&lt;b&gt;&quot;&amp;<\/h1>/);
    assert.equal(escapeHtml('<a href="x">&'), '&lt;a href=&quot;x&quot;&gt;&amp;');
  });
});
