const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether a host, as a URL names it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.includes(hostname);
}

/** Lists a URL of this machine under each of its names, as it was given first; any other URL alone. */
export function loopbackUrls(url: string): [string, ...string[]] {
  const parsed = URL.parse(url);
  if (!parsed || !isLoopback(parsed.hostname)) return [url];
  const others = LOOPBACK.filter((name) => name !== parsed.hostname);
  return [url, ...others.map((name) => url.replace(`//${parsed.hostname}`, `//${name}`))];
}
