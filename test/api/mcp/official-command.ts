// One of the protocol's own command-line programs, used as by a person at a terminal; the browser is a fake.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { on } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type Account, consent, createBrowser } from '../../fakes/browser.ts';

const run = promisify(execFile);
const MODULES = path.join(import.meta.dirname, '../../../node_modules');
const ENV = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  // The inspector's: a person opens what it prints, and what it keeps stays below its home.
  MCP_AUTO_OPEN_ENABLED: 'false',
  MCP_INSPECTOR_SECRET_STORE: 'file',
};
/** Whoever has no terminal is not asked to sign in. */
const AT_A_TERMINAL = ['--import', 'data:text/javascript,process.stdin.isTTY = true'];

type OfficialCommand = {
  /** Resolves with the command's output once it has ended; rejects with all its output when it fails. */
  output: Promise<string>;
  /** Does what it asks for: opens the address that it prints, signs in there, consents, and returns to it. */
  signIn(issuer: string, account: Account): Promise<URL>;
};

/** Starts the command `name` of an installed package; its home and working folder is `folder`. */
export function startOfficial(
  packageName: string,
  name: string,
  folder: string,
  args: string[],
): OfficialCommand {
  const manifest = path.join(MODULES, packageName, 'package.json');
  const script = path.join(path.dirname(manifest), createRequire(import.meta.url)(manifest).bin[name]);
  const running = run(process.execPath, [...AT_A_TERMINAL, script, ...args], {
    cwd: folder,
    env: { ...ENV, HOME: folder },
    maxBuffer: 16 * 1024 * 1024,
  });
  const { stdout, stderr } = running.child;
  return {
    output: running.then(
      (printed) => printed.stdout,
      (error) => {
        throw new Error(`${error.message}\n${error.stdout}`);
      },
    ),
    async signIn(issuer, account) {
      const address = await Promise.any([stdout, stderr].map((stream) => printedAddress(stream)));
      const returned = await fetch(await consent(createBrowser(issuer), address, account));
      assert.equal(returned.status, 200, await returned.text());
      return new URL(address);
    },
  };
}

/** The address of a sign-in that a line ends with. */
async function printedAddress(stream: Readable | null): Promise<string> {
  let text = '';
  for await (const [chunk] of on(stream as Readable, 'data', { close: ['end'] })) {
    text += chunk;
    const [, address] = /(http\S+\bresponse_type=code\S*)\n/.exec(text) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`Nobody is asked to sign in: ${text}`);
}
