// The official Python client signs its user in, at each name of this machine.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { consent, createBrowser } from '../../fakes/browser.ts';
import { hasPython } from '../reference/has-python.ts';
import { CLIENTS, installPythonTools } from '../reference/install-tools.ts';
import { type SignInWeir, startSignInWeir } from './sign-in-harness.ts';

if (!hasPython()) describe('The official Python client of MCP: left out, there is no Python 3.11', () => {});
else
  describe('The official Python client of MCP', () => {
    let app: SignInWeir;
    let python: string;
    before(async () => {
      const [started, installed] = await Promise.all([
        startSignInWeir({ worker: false }),
        installPythonTools(),
      ]);
      app = started;
      python = path.join(installed, 'bin/python');
    });
    after(() => app.stop());

    for (const host of ['127.0.0.1', 'localhost'])
      for (const slash of ['/', ''])
        it(`signs its user in and calls a tool at http://${host}:…/mcp${slash}`, async () => {
          const url = app.mcpUrl.replace('127.0.0.1', host).replace(/\/$/, slash);
          const child = spawn(python, [path.join(CLIENTS, 'mcp_client.py'), url]);
          let errors = '';
          child.stderr.on('data', (chunk) => {
            errors += chunk;
          });
          child.stdin.on('error', () => undefined);
          const ended = once(child, 'close');
          const printed: string[] = [];
          for await (const line of createInterface({ input: child.stdout })) {
            printed.push(line);
            if (!line.startsWith('http')) continue;
            const returned = await consent(createBrowser(app.identity.issuer), line, app.account);
            child.stdin.write(`${returned}\n`);
          }
          await ended;
          assert.equal(printed.at(-1), 'called', errors);
        });
  });
