// Walks through the console in a real browser, against a real service. Each has a browser context of its own, and fails on
// any error in the browser's console, on any page error, and on a request to another host.
import assert from 'node:assert/strict';
import path from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { describeWith } from '../../where-available.ts';
import { CHROMIUM, launchChromium } from './chromium.ts';
import { type ConsoleWeir, startConsoleWeir } from './console-weir.ts';
import { lookAt, PICTURES, WIDE } from './look-at.ts';
import { signIn } from './sign-in.ts';

/** For what never comes: the machine may be slow. */
const TIMEOUT_MS = 120_000;
const WALK_TIMEOUT_MS = 600_000;

/** A user of the embedded identity provider, by role in the demo organization; `nobody` has not signed in. */
type User = 'owner' | 'admin' | 'member' | 'nobody';

export type Walk = {
  page: Page;
  weir: ConsoleWeir;
  /** Opens a path below /console/, such as `orgs/demo/usage`, and waits for its heading. */
  open(path: string): Promise<void>;
  /** Takes pictures of the page in light and dark, wide and narrow, and has axe check it. */
  lookAt(name: string): Promise<void>;
  /** Lets errors in the browser's console pass: it reports each refused request as one. */
  allow(error: RegExp): void;
};

type DescribeWalk = (rule: string, user: User, body: (walk: Walk) => Promise<void>) => void;

/** Describes walks that share a service and a browser; where there is no browser they are left out, and say so. */
export function describeWalks(subject: string, body: (walk: DescribeWalk) => void): void {
  describeWith([CHROMIUM], subject, function () {
    this.timeout(WALK_TIMEOUT_MS);
    let weir: ConsoleWeir;
    let browser: Browser;
    const sessions = new Map<User, BrowserContextOptions['storageState']>();

    before(async () => {
      weir = await startConsoleWeir();
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await weir?.stop();
    });

    async function openContext(user: User): Promise<BrowserContext> {
      const context = await browser.newContext({
        viewport: WIDE,
        reducedMotion: 'reduce',
        locale: 'en-GB',
        timezoneId: 'Europe/Berlin',
        ...(sessions.has(user) && { storageState: sessions.get(user) }),
      });
      context.setDefaultTimeout(TIMEOUT_MS);
      if (user !== 'nobody' && !sessions.has(user)) {
        await signIn(context, weir, `${user}@weir.local`);
        sessions.set(user, await context.storageState());
      }
      return context;
    }

    body((rule, user, steps) =>
      it(rule, async () => {
        const context = await openContext(user);
        try {
          await walk(await context.newPage(), weir, rule, steps);
        } finally {
          await context.close();
        }
      }),
    );
  });
}

async function walk(page: Page, weir: ConsoleWeir, rule: string, steps: (walk: Walk) => Promise<void>) {
  const problems: string[] = [];
  const allowed: RegExp[] = [];
  const context = page.context();
  const hosts = [weir.url, weir.identity.issuer].map((url) => new URL(url).host);
  context.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => problems.push(String(error.error().stack)));
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http') && !hosts.includes(host)) problems.push(`a request to ${request.url()}`);
  });
  try {
    await steps({
      page,
      weir,
      async open(path) {
        await page.goto(`${weir.url}/console/${path}`);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
      },
      lookAt: (name) => lookAt(page, name),
      allow: (error) => allowed.push(error),
    });
  } catch (error) {
    const name = rule.toLowerCase().replace(/[^a-z]+/g, '-');
    await page.screenshot({ path: path.join(PICTURES, `failed-${name}.png`) }).catch(() => undefined);
    throw error;
  } finally {
    if (problems.length > 0) console.error(`In the browser, ${rule}:\n${problems.join('\n')}`);
  }
  const left = problems.filter((problem) => !allowed.some((error) => error.test(problem)));
  assert.equal(left.join('\n'), '');
}
