// Programs that read HTTP_PROXY would ask the proxy for the servers of this machine, too.
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/** Adds the addresses of this machine to NO_PROXY in `env`: no proxy is asked for them. */
export function bypassProxy(env: NodeJS.ProcessEnv): void {
  const given = (env.no_proxy || env.NO_PROXY || '').split(',').filter((host) => host !== '');
  const hosts = [...new Set([...given, ...LOOPBACK])].join(',');
  env.NO_PROXY = hosts;
  env.no_proxy = hosts;
}
