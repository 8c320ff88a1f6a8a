// The console at /console: a web application in the browser that calls the API with its user's token. This folder
// serves its files, as built by `npm run console:build`, and its sign-in settings.
import path from 'node:path';
import type Router from '@koa/router';
import type { ConsoleOptions } from './console-options.ts';
import { serveAsset } from './serve-asset.ts';
import { servePage } from './serve-page.ts';
import { serveSettings } from './serve-settings.ts';

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
