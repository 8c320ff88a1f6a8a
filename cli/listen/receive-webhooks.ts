// A receiver of webhooks on this machine: verifies their signatures and prints them.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import getRawBody from 'raw-body';
import { openStateFolder } from '../../dev/state-folder.ts';
import { isFromWeir } from '../../examples/webhooks/verify.ts';
import { ServiceError } from '../../flow/errors.ts';
import { parseWholeNumber } from '../terminal/parse-argument.ts';
import { formatTime, note, oneLine, printLine } from '../terminal/print.ts';

/** The host of the certificate; it does not exist in DNS. */
const LISTEN_HOST = 'listen.weir.test';

const BODY_MAX_BYTES = 1024 * 1024;
const PORT_DEFAULT = 9443;

export type ReceiveOptions = { port: number; http?: boolean; json?: boolean };
/** Reads the secret anew for each delivery, so that a rotation takes effect. */
type ReadSecret = () => Promise<string>;

/** Adds the options of `receiveWebhooks` to a command. */
export function addReceiveOptions(command: Command): Command {
  return command
    .option('--port <number>', 'port on 127.0.0.1; 0 for any', parseWholeNumber(0, 65_535), PORT_DEFAULT)
    .option('--http', 'listen without TLS, behind a tunnel that has a certificate');
}

/** Starts a server that answers 204 to requests signed with the secret and 401 to all others, until the process ends. */
export async function receiveWebhooks(readSecret: ReadSecret, options: ReceiveOptions): Promise<void> {
  const receive = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, response, readSecret, options.json === true);
  const certificate = options.http ? undefined : await listenCertificate();
  const server: Server = certificate ? createHttpsServer(certificate, receive) : createHttpServer(receive);
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  server.on('error', (error) => note(`A connection could not be accepted: ${error.message}`));
  const { port } = server.address() as AddressInfo;
  const say = options.json ? note : printLine;
  say(`Listening on ${certificate ? 'https' : 'http'}://127.0.0.1:${port}; Ctrl-C stops it.`);
  if (certificate)
    say(`A service on this machine delivers here, with callbackUrl https://${LISTEN_HOST}/, if you start it like this:
  WEIR_TEST_DIAL_MAP='{"${LISTEN_HOST}":"127.0.0.1:${port}"}' WEIR_WEBHOOK_CA_FILE=${certificate.file} npm start`);
}

/** Answers 204 to requests signed by Weir, and 401 to all others. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  readSecret: ReadSecret,
  json: boolean,
): Promise<void> {
  try {
    const body = await getRawBody(request, { limit: BODY_MAX_BYTES });
    const verified = isFromWeir(body, header(request, 'x-weir-signature'), await readSecret());
    response.writeHead(verified ? 204 : 401).end();
    const delivery = header(request, 'x-weir-delivery');
    const text = body.toString();
    if (json) printLine(JSON.stringify({ verified, delivery, body: parse(text) }));
    else {
      const event = verified ? header(request, 'x-weir-event') : 'NOT VERIFIED';
      printLine(`${formatTime(new Date())}  ${oneLine(event)}  ${oneLine(delivery)}\n${show(text)}\n`);
    }
  } catch (error) {
    note(`A request could not be received: ${error}`);
    if (!response.headersSent) response.writeHead(500).end();
  }
}

function header(request: IncomingMessage, name: string): string {
  return request.headersDistinct[name]?.[0] ?? '';
}

/** Indents JSON, and puts any other text on one line. */
function show(text: string): string {
  const json = parse(text);
  return json === undefined ? oneLine(text) : JSON.stringify(json, null, 2);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the self-signed certificate in the state folder, or lets openssl create it; `file` is its PEM file. */
async function listenCertificate(): Promise<{ cert: string; key: string; file: string }> {
  const folder = path.join(openStateFolder(), 'listen');
  const [file, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3650'],
      ...['-subj', `/CN=${LISTEN_HOST}`, '-addext', `subjectAltName=DNS:${LISTEN_HOST}`],
      ...['-keyout', keyFile, '-out', `${file}.new`],
    ]).catch((error: Error) => {
      throw new ServiceError(
        'INTERNAL_ERROR',
        `openssl could not create a certificate: ${error.message}. Install OpenSSL 3, or use --http.`,
      );
    });
    renameSync(`${file}.new`, file);
  }
  return { cert: readFileSync(file, 'utf8'), key: readFileSync(keyFile, 'utf8'), file };
}
