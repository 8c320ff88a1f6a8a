// Walks through the console in a real browser, against a real service. Each has a page of its own, and fails on any error in
// the browser's console, on any page error, and on a request to another host. The walks of a mocha process share the service,
// the browser and, for each user, one browser context that is signed in.
import assert from 'node:assert/strict';
import path from 'node:path';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Page,
  Request,
  WebError,
} from 'playwright-core';
import { atEndOfRun } from '../../hooks.ts';
import { describeWith } from '../../where-available.ts';
import { CHROMIUM, launchChromium } from './chromium.ts';
import { type ConsoleWeir, startConsoleWeir } from './console-weir.ts';
import { lookAt, PICTURES, WIDE } from './look-at.ts';
import { signIn } from './sign-in.ts';

/** For what never comes: the machine may be slow. */
const TIMEOUT_MS = 120_000;
const WALK_TIMEOUT_MS = 600_000;

/** A user of the embedded identity provider, by role in the demo organization. */
type User = 'owner' | 'admin' | 'member';

export type Walk = {
  page: Page;
  weir: ConsoleWeir;
  /** Opens a path below /console/, such as `orgs/demo/usage`, and waits for its heading. */
  open(path: string): Promise<void>;
  /** Has axe check the page in light and dark, wide and narrow. With WEIR_PICTURES=1 takes pictures of it, too. */
  lookAt(name: string): Promise<void>;
  /** Lets errors in the browser's console pass: it reports each refused request as one. */
  allow(error: RegExp): void;
};

type DescribeWalk<As> = (rule: string, user: As, body: (walk: Walk) => Promise<void>) => void;

let browser: Promise<Browser> | undefined;
/** The contexts that walks share. */
const contexts = new Map<User, Promise<BrowserContext>>();

/**
 * Describes walks; where there is no browser they are left out, and say so. `walkApart` describes one in a browser context of
 * its own, with a copy of the user's session or none: it signs in or out, or sets the clock, which all pages of a context share.
 */
export function describeWalks(
  subject: string,
  body: (walk: DescribeWalk<User>, walkApart: DescribeWalk<User | 'nobody'>) => void,
): void {
  describeWith([CHROMIUM], subject, function () {
    this.timeout(WALK_TIMEOUT_MS);
    let weir: ConsoleWeir;

    before(async () => {
      weir = await startConsoleWeir();
    });
    after(() => weir?.stop());

    body(
      (rule, user, steps) =>
        it(rule, async () => {
          await walk(await getContext(weir, user), weir, rule, steps);
        }),
      (rule, user, steps) =>
        it(rule, async () => {
          const session = user === 'nobody' ? undefined : await getContext(weir, user);
          const context = await openContext(await session?.storageState());
          try {
            await walk(context, weir, rule, steps);
          } finally {
            await context.close();
          }
        }),
    );
  });
}

async function launch(): Promise<Browser> {
  const launched = await launchChromium();
  atEndOfRun(() => launched.close());
  return launched;
}

/** Gets the context of a user, signed in. */
function getContext(weir: ConsoleWeir, user: User): Promise<BrowserContext> {
  const known = contexts.get(user);
  if (known) return known;
  const opened = openContext().then(async (context) => {
    await signIn(context, weir, `${user}@weir.local`);
    // Stays open: in a context without any page, the next page takes twice the processor time.
    await context.newPage();
    return context;
  });
  contexts.set(user, opened);
  return opened;
}

async function openContext(storageState?: BrowserContextOptions['storageState']): Promise<BrowserContext> {
  browser ??= launch();
  const context = await (await browser).newContext({
    viewport: WIDE,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    ...(storageState && { storageState }),
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  return context;
}

async function walk(
  context: BrowserContext,
  weir: ConsoleWeir,
  rule: string,
  steps: (walk: Walk) => Promise<void>,
) {
  const allowed: RegExp[] = [];
  const watch = watchFor(context, weir);
  const page = await context.newPage();
  await forget(page, weir.url);
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
    await page.close();
    watch.end();
    if (watch.problems.length > 0) console.error(`In the browser, ${rule}:\n${watch.problems.join('\n')}`);
  }
  const left = watch.problems.filter((problem) => !allowed.some((error) => error.test(problem)));
  assert.equal(left.join('\n'), '');
}

/** Collects what goes wrong in pages of the context, until `end`. */
function watchFor(context: BrowserContext, weir: ConsoleWeir) {
  const problems: string[] = [];
  const hosts = [weir.url, weir.identity.issuer].map((url) => new URL(url).host);
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === 'error') problems.push(`${message.text()} (${message.location().url})`);
  };
  const onError = (error: WebError) => problems.push(String(error.error().stack));
  const onRequest = (request: Request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http') && !hosts.includes(host)) problems.push(`a request to ${request.url()}`);
  };
  context.on('console', onConsole).on('weberror', onError).on('request', onRequest);
  const end = () => context.off('console', onConsole).off('weberror', onError).off('request', onRequest);
  return { problems, end };
}

/** Deletes what pages of earlier walks have stored in the browser, without the session. */
async function forget(page: Page, origin: string): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'local_storage' });
  await devTools.detach();
}
