// URLs in the configuration: the service's own, the database's, and those of this machine.

type Values = { WEIR_PUBLIC_URL?: string | undefined; WEIR_HOST: string; WEIR_PORT: number };

/** Reads the URL at which callers reach the API, without a slash at its end; undefined where it is not set. */
export function readPublicUrl(values: Pick<Values, 'WEIR_PUBLIC_URL'>): string | undefined {
  return values.WEIR_PUBLIC_URL?.replace(/\/+$/, '');
}

/** Reads that URL, or else makes it of the host and port on which the API listens. */
export function readBaseUrl(values: Values): string {
  const host = values.WEIR_HOST.includes(':') ? `[${values.WEIR_HOST}]` : values.WEIR_HOST;
  return readPublicUrl(values) ?? `http://${host}:${values.WEIR_PORT}`;
}
