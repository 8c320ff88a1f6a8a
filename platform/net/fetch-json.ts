/**
 * Fetches JSON of at most `maxBytes` from an address that an operator has configured; redirects are followed unless that is
 * refused. Throws for every status but success; the error does not name the address, which may hold a token.
 */
export async function fetchJson(
  address: string,
  { maxBytes, ...options }: { maxBytes: number; signal: AbortSignal; redirect?: 'error' },
): Promise<unknown> {
  const response = await fetch(address, options);
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`it was answered with status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}
