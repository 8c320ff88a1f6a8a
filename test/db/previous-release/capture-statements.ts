// Preloaded into each process by record-statements.ts: appends the statements that the service sends to a file of the process.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

type Send = (this: unknown, ...args: [query: unknown, ...rest: unknown[]]) => unknown;

/** Only these refer to columns, and only these can be prepared. */
const DATA = /^\s*(select|insert|update|delete|merge|with)\b/i;
/** Between the driver and whoever wanted the statement, and what the service does not send while it runs. */
const NOT_THE_SENDER = ['db/connection/', 'db/connect.ts', 'platform/observability/'];
const NOT_THE_SERVICE = ['test/', 'bench/', 'db/migrat', 'db/build-indexes.ts', 'db/dump-schema.ts'];

const root = process.env.WEIR_RECORD_CHECKOUT ?? '';
const file = path.join(process.env.WEIR_RECORD_FOLDER ?? '', `${process.pid}.jsonl`);
const seen = new Set<string>();

/** Says whether the innermost file of the project on the stack is one of the service. */
function isSentByService(stack: string): boolean {
  const files = [...stack.matchAll(/(?:file:\/\/|\()(\/[^():]+):\d+/g)]
    .map(([, name = '']) => name)
    .filter((name) => name !== import.meta.filename)
    .map((name) => path.relative(root, name))
    .filter((name) => !name.startsWith('node_modules') && !name.startsWith('..'));
  const sender = files.find((name) => !NOT_THE_SENDER.some((start) => name.startsWith(start)));
  return sender !== undefined && !NOT_THE_SERVICE.some((start) => sender.startsWith(start));
}

const { Client } = createRequire(path.join(root, 'package.json'))('pg') as {
  Client: { prototype: { query: Send } };
};
const send = Client.prototype.query;
Client.prototype.query = function query(sent, ...rest) {
  const text = typeof sent === 'string' ? sent : (sent as { text?: string }).text;
  if (text !== undefined && DATA.test(text) && !seen.has(text)) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 60;
    const stack = new Error().stack ?? '';
    Error.stackTraceLimit = limit;
    if (isSentByService(stack)) {
      seen.add(text);
      appendFileSync(file, `${JSON.stringify(text)}\n`);
    }
  }
  return send.call(this, sent, ...rest);
};
