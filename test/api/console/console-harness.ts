// The routes of the console alone, over HTTP, on a folder that stands for the built console.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Router from '@koa/router';
import Koa from 'koa';
import { addConsole } from '../../../api/console/add-console.ts';
import { handleErrors } from '../../../api/http/errors.ts';
import { readConfig } from '../../../platform/config/config.ts';

/** A page as Vite writes it. */
const PAGE = `<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__">
<script type="module" src="/console/assets/index-AbC_1-2.js" nonce="__CSP_NONCE__"></script>
`;

export type ConsoleSite = { url: string; folder: string; close(): void };

/** Serves a console of one page and some assets (`assets`: their contents by name), configured by `env`. */
export async function serveConsole(
  assets: { [name: string]: string } = {},
  env: { [name: string]: string } = {},
): Promise<ConsoleSite> {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-console-'));
  mkdirSync(path.join(folder, 'assets'));
  writeFileSync(path.join(folder, 'index.html'), PAGE);
  for (const [name, content] of Object.entries(assets))
    writeFileSync(path.join(folder, 'assets', name), content);
  const config = readConfig({
    DATABASE_URL: 'postgres://127.0.0.1/weir',
    WEIR_API_KEY_PEPPER: 'pepper'.repeat(6),
    WEIR_SECRETS_KEYS: `1:${Buffer.alloc(32).toString('base64')}`,
    ...env,
  });
  const router = new Router({ sensitive: true, strict: true });
  addConsole(router, config, folder);
  const app = new Koa();
  app.use(handleErrors());
  app.use(router.routes());
  app.use(router.allowedMethods());
  const server = await listen(createServer(app.callback()));
  return {
    url: urlOf(server),
    folder,
    close() {
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until a server listens, on loopback. */
export function listen(server: Server): Promise<Server> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

export function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
