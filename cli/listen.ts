// `weir listen`: receives webhooks on this machine, verifies their signatures and prints them.
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Command, Option } from 'commander';
import getRawBody from 'raw-body';
import { connect } from '../db/connect.ts';
import { createEncryption } from '../db/encrypt.ts';
import { ensureSigningSecret } from '../db/webhooks/webhook-secrets.ts';
import { isFromWeir } from '../examples/webhooks/verify.ts';
import { databaseUrl, secretsKeys } from './environment.ts';
import { getOrganization } from './find-by-path.ts';
import { formatTime, oneLine } from './format-table.ts';
import { forwardDeliveries } from './forward-deliveries.ts';
import { LISTEN_HOST, listenCertificate } from './listen-certificate.ts';
import { operator } from './operator.ts';
import { parseHttpAddress, parseWholeNumber } from './parse-argument.ts';
import { UsageError } from './usage-error.ts';

const BODY_MAX_BYTES = 1024 * 1024;
const PORT_DEFAULT = 9443;

export function addListenCommand(program: Command): void {
  program
    .command('listen')
    .description('receive webhooks on this machine: forward them to your receiver, or verify and print them')
    .argument('[org]', 'organization whose signing secret is used (read from the database)')
    .addOption(
      new Option(
        '--forward-to <url>',
        'connect to a local service, and post what it delivers to this http address; needs no restart of the service',
      )
        .argParser(parseHttpAddress)
        .conflicts(['port', 'http']),
    )
    .addOption(new Option('--secret <secret>', 'signing secret to use instead').env('WEIR_WEBHOOK_SECRET'))
    .option('--port <number>', 'port on 127.0.0.1; 0 for any', parseWholeNumber(0, 65_535), PORT_DEFAULT)
    .option('--http', 'listen without TLS, behind a tunnel that has a certificate')
    .action(listen);
}

type ListenOptions = { forwardTo?: URL; secret?: string; port: number; http?: boolean; json?: boolean };
/** Reads the secret anew for each delivery, so that a rotation takes effect. */
type ReadSecret = () => Promise<string>;

async function listen(org: string | undefined, options: ListenOptions, command: Command): Promise<void> {
  if (options.forwardTo) {
    // The variable may be set for the receiver.
    if (org !== undefined || command.getOptionValueSource('secret') === 'cli')
      throw new UsageError(
        'With --forward-to, give neither an organization nor --secret: your receiver verifies.',
      );
    return forwardDeliveries(options.forwardTo, options.json === true);
  }
  const readSecret = await secretSource(org, options.secret);
  const receive = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, response, readSecret, options.json === true);
  const certificate = options.http ? undefined : await listenCertificate();
  const server: Server = certificate ? createHttpsServer(certificate, receive) : createHttpServer(receive);
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  server.on('error', (error) => console.error(`A connection could not be accepted: ${error.message}`));
  const { port } = server.address() as AddressInfo;
  const say = options.json ? console.error : console.log;
  say(`Listening on ${certificate ? 'https' : 'http'}://127.0.0.1:${port}; Ctrl-C stops it.`);
  if (certificate)
    say(`A service on this machine delivers here, with callbackUrl https://${LISTEN_HOST}/, if you start it like this:
  WEIR_TEST_DIAL_MAP='{"${LISTEN_HOST}":"127.0.0.1:${port}"}' WEIR_WEBHOOK_CA_FILE=${certificate.file} npm start`);
}

async function secretSource(org: string | undefined, secret: string | undefined): Promise<ReadSecret> {
  if (secret !== undefined) return async () => secret;
  if (org === undefined)
    throw new UsageError('Give --forward-to, an organization, --secret or WEIR_WEBHOOK_SECRET.');
  const db = connect(databaseUrl(), 1);
  const encryption = createEncryption(secretsKeys());
  const { id: organizationId } = await getOrganization(db, org);
  return async () => (await ensureSigningSecret(db, encryption, organizationId, operator())).current;
}

/** Answers 204 to what is from Weir, 401 to anything else. */
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
    if (json) console.log(JSON.stringify({ verified, delivery, body: parse(text) }));
    else {
      const event = verified ? header(request, 'x-weir-event') : 'NOT VERIFIED';
      console.log(`${formatTime(new Date())}  ${oneLine(event)}  ${oneLine(delivery)}\n${show(text)}\n`);
    }
  } catch (error) {
    console.error(`A request could not be received: ${error}`);
    if (!response.headersSent) response.writeHead(500).end();
  }
}

function header(request: IncomingMessage, name: string): string {
  return request.headersDistinct[name]?.[0] ?? '';
}

/** Indents JSON, in which control characters are escaped, and puts any other text on one line. */
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
