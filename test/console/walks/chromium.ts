// Debian's Chromium, in which the console is tested.
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';

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
  const executablePath = (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, CHROMIUM))
    .find(isExecutable);
  if (!executablePath) throw new Error(`There is no ${CHROMIUM} on the PATH.`);
  // Started by root, it runs without a sandbox or not at all; it opens nothing but pages of the tests.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: [...FLAGS, ...sandbox] });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
