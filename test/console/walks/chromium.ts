// Debian's Chromium, in which the console is tested.
import { type Browser, chromium } from 'playwright-core';
import { findOnPath } from '../../../dev/temporal/binary.ts';

/** The command, which `describeWith` looks for. */
export const CHROMIUM = 'chromium';
const FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  // The shared memory of containers is small.
  '--disable-dev-shm-usage',
];

/** Starts the browser that is on the PATH. The caller closes it. */
export function launchChromium(): Promise<Browser> {
  const executablePath = findOnPath(CHROMIUM, process.env);
  if (!executablePath) throw new Error(`There is no ${CHROMIUM} on the PATH.`);
  // Started by root, it runs without a sandbox or not at all; it opens nothing but pages of the tests.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: [...FLAGS, ...sandbox] });
}
