import type { Config } from '../../platform/config/config.ts';
import { createEncryption } from '../../platform/secrets/encrypt.ts';
import type { UserPrincipal } from '../http/principal.ts';

const COOKIE = 'weir_codec';
const NAMED = new RegExp(`(?<=^|; ?)${COOKIE}=([\\w-]+)`, 'g');
export const CODEC_PATH = '/api/v1/codec';
const OWNER = 'cookie/codec';

type Session = { userId: string; expiresAt: number };
type Sessions = {
  /** Creates the Set-Cookie header that starts a session. */
  open(user: UserPrincipal): string;
  /** Finds the user of the first valid session in a header `Cookie`; undefined when none is valid. */
  find(cookies: string): UserPrincipal | undefined;
};

/**
 * Creates the sessions of the codec endpoint. A Temporal Web UI without its own sign-in has no token to send, so a
 * cookie stands for the user. The cookie works for this endpoint alone and expires with the token. It is encrypted
 * under WEIR_SECRETS_KEYS, so nobody else can make one.
 */
export function createCodecSessions({ secretsKeys, publicUrl }: Config): Sessions {
  const encryption = createEncryption(secretsKeys);
  const secure = publicUrl?.startsWith('https:') ? '; Secure' : '';
  return {
    open({ userId, expiresAt }) {
      const session = JSON.stringify({ userId, expiresAt: expiresAt.getTime() } satisfies Session);
      const value = Buffer.from(encryption.encrypt(session, OWNER)).toString('base64url');
      const seconds = Math.floor((expiresAt.getTime() - Date.now()) / 1_000);
      return `${COOKIE}=${value}; Path=${CODEC_PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
    },
    find(cookies) {
      // A browser may send several, for example from an earlier key or a parent domain.
      for (const [, value = ''] of cookies.matchAll(NAMED)) {
        const user = read(Buffer.from(value, 'base64url').toString());
        if (user) return user;
      }
      return undefined;
    },
  };

  function read(stored: string): UserPrincipal | undefined {
    try {
      const { userId, expiresAt } = JSON.parse(encryption.decrypt(stored, OWNER)) as Session;
      return expiresAt > Date.now() ? userOf(userId, new Date(expiresAt)) : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Creates the principal of a session. Nothing but the user id is known. */
function userOf(userId: string, expiresAt: Date): UserPrincipal {
  return {
    kind: 'user',
    userId,
    profile: { name: null, email: null, emailVerified: false },
    scopes: [],
    audience: '',
    client: { id: '' },
    consentedAt: new Date(0),
    issuedAt: new Date(0),
    expiresAt,
    environment: 'live',
  };
}
