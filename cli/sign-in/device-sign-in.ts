import { initiateDeviceAuthorization, pollDeviceAuthorizationGrant } from 'openid-client';
import { ServiceError } from '../../flow/errors.ts';
import { oneLine } from '../terminal/format-table.ts';
import { note } from '../terminal/print-line.ts';
import { explain, type Provider, wanted } from './identity-provider.ts';
import type { Session } from './session-store.ts';
import { toSession } from './to-session.ts';

/** However long a provider says: timers of Node end at 24 days. */
const WAIT_MAX_SECONDS = 24 * 60 * 60;
const INTERVAL_MAX_SECONDS = 60;

/** Signs a user in with a browser on any machine (RFC 8628): says what to open, and waits until that is done. */
export async function deviceSignIn({ configuration, scope, session }: Provider): Promise<Session> {
  if (!configuration.serverMetadata().device_authorization_endpoint)
    throw new ServiceError(
      'CONFLICT',
      `The identity provider at ${session.issuer} offers no sign-in by device code. Run weir login where a browser can be opened, or set WEIR_TOKEN or WEIR_API_KEY.`,
    );
  const resource = wanted(session.audience);
  const device = await initiateDeviceAuthorization(configuration, { ...resource, scope }).catch(
    explain(session.issuer),
  );
  const { verification_uri, verification_uri_complete = verification_uri, user_code } = device;
  note(
    `Open ${oneLine(verification_uri_complete)} in a browser on any machine and sign in; the code is ${oneLine(user_code)}. Waiting …`,
  );
  const { expires_in, interval = 5 } = device;
  const signal = AbortSignal.timeout(Math.ceil(Math.min(expires_in, WAIT_MAX_SECONDS) * 1_000));
  const asked = { ...device, interval: Math.min(interval, INTERVAL_MAX_SECONDS) };
  const tokens = await pollDeviceAuthorizationGrant(configuration, asked, resource, { signal }).catch(
    (error) => {
      if (!signal.aborted) return explain(session.issuer)(error);
      throw new ServiceError(
        'UNAUTHENTICATED',
        'Nobody signed in before the code expired. Run the command again.',
      );
    },
  );
  return toSession(session, tokens);
}
