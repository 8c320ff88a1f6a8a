// The console at /console: a web application that runs in the browser and calls the API with its user's token. Here
// are its files, as `npm run console:build` writes them, and the settings with which it signs users in.
import path from 'node:path';
import type Router from '@koa/router';
import type { ConsoleOptions } from './console-options.ts';
import { serveAsset } from './serve-asset.ts';
import { servePage } from './serve-page.ts';
import { serveSettings } from './serve-settings.ts';

const BUILT = path.join(import.meta.dirname, '../../dist/console');

/** Adds the console to a router. Every path below /console that does not name a file is the page, which finds its way itself. */
export function addConsole(router: Router, options: ConsoleOptions, folder: string = BUILT): void {
  router.get('/console/settings.json', serveSettings(options));
  router.get(['/console/assets/', '/console/assets/*file'], serveAsset(path.join(folder, 'assets')));
  router.get(
    ['/console', '/console/', '/console/*path'],
    servePage(options, path.join(folder, 'index.html')),
  );
}
