import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Config } from '../../platform/config/config.ts';
import { withoutBrackets } from '../../platform/net/resolve-public.ts';
import { describe, failure, ok, type Result, warning } from './finding.ts';

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
