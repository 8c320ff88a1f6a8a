/** The settings that the service gives its console, at /console/settings.json; null where it is not configured. */
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

/** How long the service, or the identity provider, may take to answer at sign-in. */
export const ANSWER_MAX_MS = 30_000;

let fetched: Promise<Settings> | undefined;

/** Fetches the settings once. */
export function loadSettings(): Promise<Settings> {
  fetched ??= fetch('/console/settings.json', { signal: AbortSignal.timeout(ANSWER_MAX_MS) }).then(
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
