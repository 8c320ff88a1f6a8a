// The build of the console into dist/console, and its development server (`npm run console`).
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The service to which the development server forwards API requests. */
const SERVICE = process.env.WEIR_URL ?? 'http://127.0.0.1:8787';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), stylesBelowFrame(), developmentSettings()],
  // The server replaces it with a new nonce for each response: libraries insert <style> elements with it.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // No inlined assets: the content security policy allows neither inline code nor data URLs for fonts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // test/console/build/first-page.test.ts limits the compressed size of the first page.
    chunkSizeWarningLimit: 1_000,
    manifest: true,
    // The licences of the bundled packages, as they require.
    license: { fileName: 'assets/licenses.md' },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      '/api': SERVICE,
      '/openapi.json': SERVICE,
      '/reference': SERVICE,
    },
  },
});

/** Moves the stylesheets below the frame in index.html, which then shows before they have come. */
function stylesBelowFrame(): Plugin {
  const STYLESHEET = /\s*<link rel="stylesheet"[^>]*>/g;
  return {
    name: 'weir-styles-below-frame',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) =>
        html
          .replace(STYLESHEET, '')
          .replace('</body>', `${(html.match(STYLESHEET) ?? []).join('')}\n  </body>`),
    },
  };
}

/** Serves the service's settings with the client that may redirect to any local port. */
function developmentSettings(): Plugin {
  return {
    name: 'weir-development-settings',
    configureServer(server) {
      server.middlewares.use('/console/settings.json', async (_request, response, next) => {
        try {
          const settings = (await (await fetch(`${SERVICE}/console/settings.json`)).json()) as {
            clientId: string | null;
          };
          const clientId = settings.clientId === 'weir-console' ? 'weir-console-dev' : settings.clientId;
          response
            .setHeader('Content-Type', 'application/json')
            .end(JSON.stringify({ ...settings, clientId }));
        } catch (error) {
          next(
            new Error(`No service answers at ${SERVICE}: run npm start, or set WEIR_URL.`, { cause: error }),
          );
        }
      });
    },
  };
}
