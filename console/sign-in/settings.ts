/** The settings of the console, from /console/settings.json; null where not configured. */
export type Settings = {
  issuer: string | null;
  clientId: string | null;
  scopes: string;
  audience: string | null;
  temporalUiUrl: string | null;
  temporalNamespace: string;
  temporalEncrypted: boolean;
  version: string;
};

/** The time limit of the service and the identity provider during sign-in. */
export const RESPONSE_TIMEOUT_MS = 30_000;

let fetched: Promise<Settings> | undefined;

/** Fetches the settings once. */
export function loadSettings(): Promise<Settings> {
  fetched ??= fetch('/console/settings.json', { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) }).then(
    (response) => {
      if (!response.ok) throw new Error(`The service answered ${response.status} when asked how to sign in.`);
      return response.json();
    },
  );
  fetched.catch(() => {
    fetched = undefined;
  });
  return fetched;
}
