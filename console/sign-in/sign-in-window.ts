// Signing in again beside a page that stays as it is: a window of its own signs in, and hands its tokens over.
import type { Tokens } from './tokens.ts';

/** The address at which such a window begins and ends; its fragment names the channel to the page that opened it. */
const WINDOW = '/console/sign-in-window';

/** Opens the window; resolves with its tokens, or never, when it is closed. Undefined where the browser allows no window. */
export function openSignInWindow(): Promise<Tokens> | undefined {
  const name = crypto.randomUUID();
  const channel = new BroadcastChannel(name);
  const tokens = new Promise<Tokens>((resolve) => {
    channel.onmessage = ({ data }: MessageEvent<Tokens>) => {
      channel.close();
      resolve(data);
    };
  });
  if (window.open(`${WINDOW}#${name}`, '_blank', 'popup,width=520,height=720')) return tokens;
  channel.close();
  return undefined;
}

/** Whether this page is such a window. */
export function isSignInWindow(): boolean {
  return location.pathname === WINDOW;
}

/** Hands the tokens of this window to the page that opened it. */
export function handOver(tokens: Tokens): void {
  const channel = new BroadcastChannel(location.hash.slice(1));
  channel.postMessage(tokens);
  channel.close();
  window.close();
}
