// How the console is built, into dist/console, and served while it is worked on (`npm run console`).
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The service whose API the development server hands requests on to. */
const SERVICE = process.env.WEIR_URL ?? 'http://127.0.0.1:8787';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), developmentSettings()],
  // The server puts a nonce in its place, another one in each answer: libraries insert <style> elements with it.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // A file of its own for everything: the content security policy allows no inline code and no data URLs for fonts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // What the first page may load is bounded by test/console/build/first-page.test.ts, compressed.
    chunkSizeWarningLimit: 1_000,
    manifest: true,
    // The licences of the packages that are in the files, which ask for that.
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

/** Hands out the settings of the service with the client whose sign-in may come back to any port of this machine. */
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
