// How the console is built, into dist/console, and served while it is worked on (`npm run console`).
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The service whose API the development server hands requests on to. */
const SERVICE = process.env.WEIR_URL ?? 'http://127.0.0.1:8787';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // A file of its own for everything: the content security policy allows no inline code and no data URLs for fonts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      '/api': SERVICE,
      '/console/settings.json': SERVICE,
      '/openapi.json': SERVICE,
      '/reference': SERVICE,
    },
  },
});
