// The clients that the embedded identity provider knows from the start; others register themselves.
import type { ClientMetadata } from 'oidc-provider';
import { isLoopback } from '../../platform/config/config.ts';
import {
  CLI_CLIENT_ID,
  CONSOLE_CLIENT_ID,
  CONSOLE_DEVELOPMENT_CLIENT_ID,
  SCRIPT_CLIENT_ID,
} from './client-ids.ts';

/** A client for local programs that cannot register themselves; it may redirect to any port on loopback. */
const LOCAL_CLIENT_ID = 'weir-local';
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost'];
const CODE: ClientMetadata = {
  client_id: '',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
};

/** Lists the clients; `consoleUrls` are the base URLs of the service whose console may sign users in. */
export function identityClients(scriptSecret: string, consoleUrls: string[]): ClientMetadata[] {
  const clients: (ClientMetadata | false)[] = [
    {
      client_id: SCRIPT_CLIENT_ID,
      client_name: 'weir token',
      client_secret: scriptSecret,
      grant_types: ['client_credentials', DEVICE_CODE],
      response_types: [],
      redirect_uris: [],
    },
    {
      ...CODE,
      client_id: CLI_CLIENT_ID,
      client_name: 'weir, the command line',
      grant_types: ['authorization_code', 'refresh_token', DEVICE_CODE],
      redirect_uris: ['http://127.0.0.1/callback'],
    },
    {
      ...CODE,
      client_id: LOCAL_CLIENT_ID,
      client_name: 'A program on this machine',
      redirect_uris: LOOPBACK_HOSTS.flatMap((host) => [
        `http://${host}/callback`,
        `http://${host}/oauth/callback`,
      ]),
    },
    consoleUrls.length > 0 && {
      ...CODE,
      client_id: CONSOLE_CLIENT_ID,
      client_name: 'the console',
      // Its redirect URIs count to the letter; those of native programs count on any port.
      application_type: 'web',
      redirect_uris: consoleUrls.map((url) => `${url}/console/signed-in`),
      post_logout_redirect_uris: consoleUrls.map((url) => `${url}/console/signed-out`),
    },
    {
      ...CODE,
      client_id: CONSOLE_DEVELOPMENT_CLIENT_ID,
      client_name: 'a console under development',
      redirect_uris: LOOPBACK_HOSTS.map((host) => `http://${host}/console/signed-in`),
      post_logout_redirect_uris: LOOPBACK_HOSTS.map((host) => `http://${host}/console/signed-out`),
    },
  ];
  return clients.filter((client) => client !== false);
}

/** Whether a web page at `origin` may call the endpoints of a client: the origin of a redirect URI. */
export function isOriginOf(
  client: { clientId: string; redirectUris?: readonly string[] | undefined },
  origin: string,
): boolean {
  if (client.clientId === CONSOLE_DEVELOPMENT_CLIENT_ID) return isLoopback(URL.parse(origin)?.hostname ?? '');
  return (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin);
}
