import assert from 'node:assert/strict';
import type { BrowserContext } from 'playwright-core';
import type { ConsoleWeir } from './console-weir.ts';

/** Signs a user in by password, as everybody does but the local owner. */
export async function signIn(context: BrowserContext, weir: ConsoleWeir, email: string): Promise<void> {
  const password =
    new Map(weir.identity.passwords).get(email) ?? assert.fail(`There is no account ${email}.`);
  const page = await context.newPage();
  await page.goto(`${weir.url}/console/`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Console' }).waitFor();
  await page.close();
}
