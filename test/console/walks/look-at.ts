// A page as its readers see it: pictures in light and dark, wide and narrow, and the findings of axe.
import assert from 'node:assert/strict';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

export const PICTURES = path.join(import.meta.dirname, '../../../test-results/console');
export const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };
const SERIOUS = ['serious', 'critical'];

/** Takes pictures of the page as `name`. Fails when axe finds something serious, or a narrow page scrolls sideways. */
export async function lookAt(page: Page, name: string): Promise<void> {
  const findings: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const size of [NARROW, WIDE]) {
      await page.setViewportSize(size);
      // Ends what is moving, too, so that axe sees the final colours.
      await page.screenshot({
        path: path.join(PICTURES, `${name}-${size.width}-${colorScheme}.png`),
        animations: 'disabled',
      });
      if (size === NARROW && (await isTooWide(page))) findings.push(`wider than ${size.width} px`);
      if (size === WIDE || colorScheme === 'light')
        findings.push(...(await findSerious(page)).map((one) => `${size.width} px, ${colorScheme}: ${one}`));
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  assert.equal(findings.join('\n'), '', name);
}

function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

async function findSerious(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  return violations
    .filter(({ impact }) => SERIOUS.includes(impact ?? ''))
    .map(({ id, help, nodes }) => {
      const where = nodes
        .slice(0, 3)
        .map(({ html, failureSummary }) => `\n    ${html}\n    ${failureSummary}`);
      return `${id}: ${help}${where.join('')}`;
    });
}
