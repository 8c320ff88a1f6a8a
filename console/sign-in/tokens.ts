import * as oauth from 'oauth4webapi';

/** A provider that does not say how long its tokens last is asked for a new one after five minutes. */
const LIFETIME_SECONDS = 300;

/** The tokens of a user, `sub`. They are held in memory only. */
export type Tokens = {
  sub: string | undefined;
  access: string;
  refresh: string | undefined;
  id: string | undefined;
  expiresAt: number;
};

/** Takes the tokens out of an answer; what it does not replace stays as it was `before`. */
export function toTokens(answer: oauth.TokenEndpointResponse, before?: Tokens): Tokens {
  return {
    sub: oauth.getValidatedIdTokenClaims(answer)?.sub ?? before?.sub,
    access: answer.access_token,
    refresh: answer.refresh_token ?? before?.refresh,
    id: answer.id_token ?? before?.id,
    expiresAt: Date.now() + (answer.expires_in ?? LIFETIME_SECONDS) * 1_000,
  };
}
