// The state that `npm start` leaves for this command: where the service is on this machine, and a credential for it.
import path from 'node:path';
import { MANAGEMENT_SCOPE } from '../../api/auth/scopes.ts';
import { SCRIPT_CLIENT_ID } from '../../dev/identity/client-ids.ts';
import { isStarting } from '../../dev/processes/process-lock.ts';
import { LOCAL_ENVIRONMENT, type LocalEnvironment, readState } from '../../dev/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';

const TIMEOUT_MS = 10_000;
const RENEW_MS = 60_000;

export type LocalIdentity = NonNullable<LocalEnvironment['identity']>;

type LocalToken = { access_token: string; expires_in: number };

let held: { issuer: string; token: string; until: number } | undefined;

const CHECKOUT = path.join(import.meta.dirname, '../..');

/** Reads what `npm start` wrote; undefined where none ran. */
export function findLocalStart(): LocalEnvironment | undefined {
  return readState<LocalEnvironment>(stateFolder(), LOCAL_ENVIRONMENT);
}

export function stateFolder(): string {
  return path.resolve(process.env.WEIR_STATE_DIR || path.join(CHECKOUT, '.weir'));
}

/** Throws while `npm start` is on its way to a service, of which this command then knows nothing yet. */
export function requireStarted(): void {
  if (isStarting(stateFolder()))
    throw new ServiceError(
      'CONFLICT',
      'npm start is still starting. Repeat the command when it says that Weir is ready.',
    );
}

// Tokens of the identity provider that `npm start` brings, got by client credentials: those of the user weir-script.

/** Gets a token for the management API, and keeps it in this process until a minute before it expires. */
export async function localToken(identity: LocalIdentity): Promise<string> {
  const { issuer, audience: resource } = identity;
  if (held?.issuer !== issuer || held.until < Date.now()) {
    const form = { grant_type: 'client_credentials', resource, scope: MANAGEMENT_SCOPE };
    const { access_token: token, expires_in } = await getLocalToken(identity, form);
    held = { issuer, token, until: Date.now() + expires_in * 1_000 - RENEW_MS };
  }
  return held.token;
}

/** Gets a token for which the form asks the provider. */
export async function getLocalToken(
  { issuer, scriptSecret }: LocalIdentity,
  form: Record<string, string>,
): Promise<LocalToken> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${SCRIPT_CLIENT_ID}:${scriptSecret}`)}` },
    body: new URLSearchParams(form),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => {
    throw new ServiceError(
      'IDENTITY_PROVIDER_UNAVAILABLE',
      `The identity provider cannot be reached at ${issuer} (${error.message}). Run npm start first.`,
    );
  });
  const answer = (await response.json().catch(() => ({}))) as LocalToken & {
    error?: string;
    error_description?: string;
  };
  if (response.ok) return answer;
  throw new ServiceError(
    'UNAUTHENTICATED',
    `The identity provider at ${issuer} gave no token: ${answer.error_description ?? answer.error ?? `status ${response.status}`}.`,
  );
}
