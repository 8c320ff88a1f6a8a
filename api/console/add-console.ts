// The console at /console: a web application in the browser that calls the API with its user's token. This folder
// serves its files, as built by `npm run console:build`, and its sign-in settings.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../flow/errors.ts';
import { type ConsoleOptions, servePage, serveSettings } from './serve-page.ts';

const NAME = /^\w[\w.-]{0,199}$/;
const COMPRESSED = ['.css', '.js', '.json', '.svg'];

/** Maximum number of cached files, counting each encoding. The console has some dozens. */
const KEPT_MAX = 500;

/** The highest quality saves 5% and takes ten times as long. */
const BROTLI_QUALITY = 9;

type Encoding = 'br' | 'gzip' | 'identity';

const ENCODE: { [encoding in Encoding]: (bytes: Buffer) => Buffer | Promise<Buffer> } = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes) => promisify(gzip)(bytes),
  identity: (bytes) => bytes,
};

const BUILT = path.join(import.meta.dirname, '../../dist/console');

/**
 * Adds the console to a router. Every path below /console that does not name a file gets the page, which has its own
 * router.
 */
export function addConsole(router: Router, options: ConsoleOptions, folder: string = BUILT): void {
  router.get('/console/settings.json', serveSettings(options));
  router.get(['/console/assets/', '/console/assets/*file'], serveAsset(path.join(folder, 'assets')));
  router.get(
    ['/console', '/console/', '/console/*path'],
    servePage(options, path.join(folder, 'index.html')),
  );
}

/**
 * Serves GET /console/assets/{file} from a folder: scripts, styles, fonts and images, whose names contain a hash of
 * their content. Files are read and compressed on first use, and cached.
 */
function serveAsset(folder: string): Middleware {
  const kept = new LRUCache<string, Promise<Buffer>>({ max: KEPT_MAX });

  async function load(name: string, encoding: Encoding): Promise<Buffer> {
    const key = `${encoding} ${name}`;
    const found = kept.get(key);
    if (found) return found;
    const loading = readFile(path.join(folder, name)).then(ENCODE[encoding]);
    kept.set(key, loading);
    loading.catch(() => kept.delete(key));
    return loading;
  }

  return async function serveAsset(ctx) {
    const name: string = ctx.params.file ?? '';
    const extension = path.extname(name);
    const encodings: Encoding[] = COMPRESSED.includes(extension) ? ['br', 'gzip'] : [];
    const encoding = encodings.find((one) => ctx.acceptsEncodings(one)) ?? 'identity';
    ctx.body = NAME.test(name) ? await load(name, encoding).catch(refuseMissing) : refuseMissing();
    ctx.type = extension;
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.vary('Accept-Encoding');
    if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  };
}

function refuseMissing(error?: NodeJS.ErrnoException): never {
  const missing = error === undefined || error.code === 'ENOENT' || error.code === 'EISDIR';
  if (!missing) throw error;
  throw new ServiceError(
    'NOT_FOUND',
    'The console has no such file: reload the page, it may be of an earlier build.',
  );
}
