type Options = {
  /** Options such as ` -N`, each after a space. */
  options?: string;
  /** A key to write into the command; without one the shell reads the environment variable WEIR_API_KEY. */
  apiKey?: string | undefined;
  /** Sent as JSON. */
  body?: object;
};

/** Writes a request as a curl command for a POSIX shell. `url` must be quoted already. */
export function curlCommand(url: string, { options = '', apiKey, body }: Options): string {
  const key = apiKey === undefined ? '"Authorization: Bearer $WEIR_API_KEY"' : undefined;
  return [
    `curl -sS${options} ${url}`,
    `-H ${key ?? quoteForShell(`Authorization: Bearer ${apiKey}`)}`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d ${quoteForShell(JSON.stringify(body))}`] : []),
  ].join(' \\\n  ');
}

/** Quotes a text for a POSIX shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
