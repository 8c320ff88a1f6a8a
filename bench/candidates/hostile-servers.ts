// main: a model server that answers 8 MB, and a webhook receiver that never answers
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { constants, setPriority } from 'node:os';
import { createAuthority } from '../../test/certificates.ts';

// Elsewhere they have machines of their own.
setPriority(constants.priority.PRIORITY_LOW);

const ANSWER_CHARS = 8_000_000;
const HANGING_HOST = 'hanging.bench.test';

const completion = JSON.stringify({
  id: 'large',
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'x'.repeat(ANSWER_CHARS) }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 10 },
});
const models = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(completion);
  });
  response.on('error', () => undefined);
});
const authority = createAuthority();
const receiver = createTlsServer(authority.issue([HANGING_HOST]), (request) => void request.resume());
for (const server of [models, receiver]) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}
const portOf = (server: typeof models | typeof receiver) => (server.address() as AddressInfo).port;
process.once('disconnect', () => process.exit());
process.send?.({
  modelUrl: `http://127.0.0.1:${portOf(models)}/v1`,
  host: HANGING_HOST,
  address: `127.0.0.1:${portOf(receiver)}`,
  ca: authority.pem,
});
