// A page as its readers see it: the findings of axe in light and dark, wide and narrow, and pictures with WEIR_PICTURES=1.
import assert from 'node:assert/strict';
import path from 'node:path';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Locator, Page } from 'playwright-core';

export const PICTURES = path.join(import.meta.dirname, '../../../test-results/console');
export const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 360, height: 800 };
/** Whether a reader can see and reach everything also depends on the colours and the width; the other rules do not. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
const WIDTH_RULES = ['scrollable-region-focusable', 'button-name', 'link-name', 'label'];
/** Lets the page draw itself at its new size, and ends what is moving, so that axe sees the final colours. */
const SETTLE = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => {
  for (const moving of document.getAnimations())
    if (moving.effect.getComputedTiming().endTime === Infinity) moving.cancel();
    else moving.finish();
})`;

/**
 * Fails when axe finds anything on the page, once it has loaded, or a narrow page scrolls sideways. Takes pictures
 * of the page as `name` with WEIR_PICTURES=1.
 */
export async function lookAt(page: Page, name: string): Promise<void> {
  const loading = page.getByRole('status').filter({ hasText: /^\s*Loading/ });
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' });
  await page.evaluate(axe.source);
  const findings: string[] = [];
  for (const size of [WIDE, NARROW]) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(SETTLE);
      if (process.env.WEIR_PICTURES === '1')
        await page.screenshot({
          path: path.join(PICTURES, `${name}-${size.width}-${colorScheme}.png`),
          animations: 'disabled',
        });
      if (size === NARROW && (await isTooWide(page))) findings.push(`wider than ${size.width} px`);
      const rules = colorScheme === 'dark' ? COLOUR_RULES : size === NARROW ? WIDTH_RULES : undefined;
      if (size === WIDE || colorScheme === 'light')
        for (const finding of await findViolations(page, rules))
          findings.push(`${size.width} px, ${colorScheme}: ${finding}`);
    }
  }
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light' });
  assert.equal(findings.join('\n'), '', name);
}

/** Lets the page draw four frames: in the third one, the console has moved the focus. */
export async function drawFrames(page: Page): Promise<void> {
  await page.evaluate(
    `new Promise((done) => ${'requestAnimationFrame(() => '.repeat(4)}done()${')'.repeat(4)})`,
  );
}

/** Fails unless an element is inside the window without scrolling. */
export async function isInView(element: Locator): Promise<void> {
  const box = (await element.boundingBox()) ?? assert.fail('It is not on the page.');
  const { height } = element.page().viewportSize() ?? assert.fail('The page has no size.');
  assert.ok(box.y >= 0 && box.y + box.height <= height, `at ${box.y} of ${height}`);
}

function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

/** Runs axe, which the page has loaded: all of it unless `rules` are named. */
async function findViolations(page: Page, rules?: string[]): Promise<string[]> {
  // Announcements name elements that may be gone, and go themselves within seconds.
  const context = { exclude: ['[data-live-announcer]'] };
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules && { runOnly: { type: 'rule', values: rules } }),
  };
  const { violations }: AxeResults = await page.evaluate(
    `axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)})`,
  );
  return violations.map(({ id, help, nodes }) => {
    const where = nodes.slice(0, 3).map(({ html, failureSummary }) => `\n    ${html}\n    ${failureSummary}`);
    return `${id}: ${help}${where.join('')}`;
  });
}
