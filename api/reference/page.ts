// GET /reference and GET /openapi.json: the API reference, for people and for programs.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Middleware } from 'koa';
import { ServiceError } from '../../flow/errors.ts';

const ASSETS = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const FILES: { [name: string]: string } = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Weir API reference</title>
  <link rel="stylesheet" href="/reference/swagger-ui.css">
</head>
<body>
  <div id="reference"></div>
  <script src="/reference/swagger-ui-bundle.js"></script>
  <script src="/reference/start.js"></script>
</body>
</html>
`;
const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 1,
  validatorUrl: null,
});
`;

/** Serves the page and its own files. The page loads nothing from elsewhere. */
export const serveReference: Middleware = async (ctx) => {
  const name: string = ctx.params.file ?? '';
  ctx.set('Cache-Control', 'no-cache');
  ctx.set(
    'Content-Security-Policy',
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
  );
  if (name === '') {
    ctx.type = 'text/html';
    ctx.body = PAGE;
  } else if (name === 'start.js') {
    ctx.type = 'text/javascript';
    ctx.body = START;
  } else {
    const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    if (!type) throw new ServiceError('NOT_FOUND', 'The API reference has no such file.');
    ctx.type = type;
    ctx.body = await readFile(path.join(ASSETS, name));
  }
};
