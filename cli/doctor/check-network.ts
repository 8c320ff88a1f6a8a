import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { fetchFromProvider, readDiscovery } from '../../api/auth/identity-provider.ts';
import type { Config } from '../../platform/config/config.ts';
import { withoutBrackets } from '../../platform/net/resolve-public.ts';
import { openObjectStore } from '../../platform/object-store/open-object-store.ts';
import { checkClock } from './check-machine.ts';
import { describe, failure, ok, type Result, warning } from './finding.ts';

const ANSWER_MAX_MS = 5_000;

/** Looks whether the model providers can be reached. Sends no key, and makes no call of a model. */
export async function checkModels(
  { providers }: Pick<Config, 'providers'>,
  signal: AbortSignal,
): Promise<Result[]> {
  const configured = Object.entries(providers);
  if (configured.length === 0)
    return [
      warning(
        'No model provider is configured: llm blocks need keys of organizations or callers.',
        'Set OPENAI_API_KEY or another provider’s key.',
      ),
    ];
  return Promise.all(
    configured.map(async ([name, { baseUrl }]) => {
      try {
        // The client of model calls leaves a slash at the end of the base URL out, too.
        const answer = await fetch(`${baseUrl.replace(/\/$/, '')}/models`, { redirect: 'manual', signal });
        await answer.body?.cancel();
        if (answer.status === 404)
          return warning(
            `${name} answers at ${originOf(baseUrl)}, but has nothing at the path of its base URL (404).`,
            `Correct ${name.toUpperCase()}_BASE_URL: it mostly ends with /v1.`,
          );
        return ok(`${name} answers at ${originOf(baseUrl)}.`);
      } catch (error) {
        return failure(
          `${name} does not answer at ${originOf(baseUrl)}: ${describe(error)}.`,
          `Correct ${name.toUpperCase()}_BASE_URL, or let this machine reach it.`,
        );
      }
    }),
  );
}

/** Looks whether webhooks can go out as they are configured to. */
export async function checkWebhooks(
  { egressProxy, webhookCaFile }: Pick<Config, 'egressProxy' | 'webhookCaFile'>,
  signal: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  if (webhookCaFile)
    results.push(
      await readFile(webhookCaFile, 'utf8')
        .then(earliestEnd)
        .then((end) =>
          end.getTime() > Date.now()
            ? ok(`The certificates in WEIR_WEBHOOK_CA_FILE are valid until ${end.toISOString()}.`)
            : failure(
                `A certificate in WEIR_WEBHOOK_CA_FILE expired on ${end.toISOString()}.`,
                'Replace it.',
              ),
        )
        .catch((error: unknown) =>
          failure(
            `WEIR_WEBHOOK_CA_FILE (${webhookCaFile}) cannot be used: ${describe(error)}.`,
            'Set it to a PEM file that this user can read.',
          ),
        ),
    );
  if (egressProxy) {
    const socket = connect({
      host: withoutBrackets(egressProxy.hostname),
      port: Number(egressProxy.port || 80),
    });
    results.push(
      await once(socket, 'connect', { signal })
        .then(() => ok(`The egress proxy answers at ${egressProxy.host}.`))
        .catch((error: unknown) =>
          failure(
            `The egress proxy ${egressProxy.host} does not answer: ${describe(error)}.`,
            'Start it, or correct WEIR_EGRESS_PROXY: no webhook goes out.',
          ),
        ),
    );
    socket.on('error', () => undefined).destroy();
  }
  return results.length > 0 ? results : [ok('No egress proxy is configured for this process.')];
}

/** Returns the earliest date on which a certificate in a PEM file expires. */
function earliestEnd(pem: string): Date {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [pem];
  const ends = certificates.map((certificate) => Date.parse(new X509Certificate(certificate).validTo));
  return new Date(Math.min(...ends));
}

/** Looks whether the service answers where its callers reach it. */
export async function checkService(
  { publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>,
  signal: AbortSignal,
): Promise<Result[]> {
  const name = host.includes(':') ? `[${host}]` : host;
  const url = publicUrl ?? `http://${['0.0.0.0', '[::]'].includes(name) ? '127.0.0.1' : name}:${port}`;
  const mend = `Start the API (npm run api), or correct ${publicUrl ? 'WEIR_PUBLIC_URL or the proxy in front' : 'WEIR_HOST and WEIR_PORT'}.`;
  try {
    const answer = await fetch(`${url.replace(/\/$/, '')}/healthz`, { redirect: 'manual', signal });
    const body: unknown = await answer.json().catch(() => undefined);
    if (answer.ok && typeof body === 'object' && body !== null && 'away' in body)
      return [ok(`The API answers at ${url}.`)];
    return [failure(`${url} answers ${answer.status}, not as Weir does.`, mend)];
  } catch (error) {
    return [failure(`The API does not answer at ${url}: ${describe(error)}.`, mend)];
  }
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'its address';
}

/** Looks whether the object store has the bucket and takes the credentials. Writes nothing. */
export async function checkObjects({ objectStore }: Pick<Config, 'objectStore'>): Promise<Result[]> {
  const store = await openObjectStore(objectStore);
  if (!store || !objectStore) return [ok('Large requests and outputs are kept in PostgreSQL.')];
  try {
    const { bucket, endpoint = `AWS in ${objectStore.region}` } = objectStore;
    const problem = await store.findProblem(ANSWER_MAX_MS);
    if (problem === undefined) return [ok(`The object store has the bucket ${bucket}.`)];
    return [
      failure(
        `The object store ${problem} (bucket ${bucket}, ${endpoint}).`,
        'Correct WEIR_OBJECT_STORE, WEIR_OBJECT_STORE_ENDPOINT, AWS_REGION or the credentials, or start the store.',
      ),
    ];
  } finally {
    store.close();
  }
}

/** Looks whether users' tokens can be checked: by the issuer's discovery document and its keys. */
export async function checkIdentity({ oidc }: Pick<Config, 'oidc'>, signal: AbortSignal): Promise<Result[]> {
  if (!oidc)
    return [
      warning(
        'No identity provider is configured: only API keys are accepted.',
        'Set WEIR_OIDC_ISSUER, unless no user is to sign in.',
      ),
    ];
  const { issuer, audience, mcpAudience } = oidc;
  try {
    const { jwks_uri } = await readDiscovery(issuer, signal);
    const keys = (await fetchFromProvider(jwks_uri, signal)) as { keys?: unknown[] };
    if (!keys?.keys?.length)
      return [
        failure(
          `${jwks_uri} has no keys.`,
          'Have the provider publish its signing keys: no token can be checked.',
        ),
      ];
    return [
      ok(
        `${issuer} answers, with ${keys.keys.length} ${keys.keys.length === 1 ? 'key' : 'keys'}. Tokens are for ${audience} or, over MCP, ${mcpAudience}.`,
      ),
      ...(await compareClocks(issuer, signal)),
    ];
  } catch (error) {
    return [
      failure(
        `The identity provider ${issuer} cannot be used: ${describe(error)}.`,
        'Start it, or set WEIR_OIDC_ISSUER to the issuer exactly as its discovery document has it.',
      ),
    ];
  }
}

/** Reads the provider's clock from the Date of an answer, which is exact to a second. */
async function compareClocks(issuer: string, signal: AbortSignal): Promise<Result[]> {
  const begun = performance.now();
  const { headers, body } = await fetch(issuer, { method: 'HEAD', redirect: 'manual', signal });
  await body?.cancel();
  const date = new Date(headers.get('date') ?? Number.NaN);
  return Number.isNaN(date.getTime())
    ? []
    : checkClock('the identity provider', date, performance.now() - begun + 1_000);
}
