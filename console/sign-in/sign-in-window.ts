import type { Tokens } from './tokens.ts';

/** The path of the sign-in window; its fragment names the channel to the page that opened it. */
const WINDOW = '/console/sign-in-window';
/** A prefix of its own, because any website can open the window with any fragment. */
const CHANNEL = 'weir.sign-in.';

/**
 * Opens the sign-in window. Resolves with its tokens; never resolves when the window is closed. Undefined when the
 * browser blocks it.
 */
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

/** Whether this page is a sign-in window. */
export function isSignInWindow(): boolean {
  return location.pathname === WINDOW;
}

/** Sends the tokens to the page that opened this window. A window that the user opened becomes the console. */
export function sendTokens(tokens: Tokens): void {
  const channel = new BroadcastChannel(CHANNEL + location.hash.slice(1));
  channel.postMessage(tokens);
  channel.close();
  window.close();
  if (!window.closed) location.replace('/console/');
}
