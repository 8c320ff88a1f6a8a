// Signing in again beside a page that stays as it is: a window of its own signs in, and hands its tokens over.
import type { Tokens } from './tokens.ts';

/** The address at which such a window begins and ends; its fragment names the channel to the page that opened it. */
const WINDOW = '/console/sign-in-window';
/** Any website can open the window with a fragment of its own: no other channel of the console begins so. */
const CHANNEL = 'weir.sign-in.';

/** Opens the window; resolves with its tokens, or never, when it is closed. Undefined where the browser allows no window. */
export function openSignInWindow(): Promise<Tokens> | undefined {
  const name = crypto.randomUUID();
  const channel = new BroadcastChannel(CHANNEL + name);
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

/** Hands the tokens of this window to the page that opened it; one that a user has opened becomes the console. */
export function handOver(tokens: Tokens): void {
  const channel = new BroadcastChannel(CHANNEL + location.hash.slice(1));
  channel.postMessage(tokens);
  channel.close();
  window.close();
  if (!window.closed) location.replace('/console/');
}
