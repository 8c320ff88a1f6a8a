import * as oauth from 'oauth4webapi';

/** The assumed lifetime when the provider does not state one. */
const LIFETIME_SECONDS = 300;

/** The tokens of a user, `sub`. They are only kept in memory. */
export type Tokens = {
  sub: string | undefined;
  access: string;
  refresh: string | undefined;
  id: string | undefined;
  expiresAt: number;
};

/** Reads the tokens from a response; missing ones are taken from `before`. */
export function toTokens(answer: oauth.TokenEndpointResponse, before?: Tokens): Tokens {
  return {
    sub: oauth.getValidatedIdTokenClaims(answer)?.sub ?? before?.sub,
    access: answer.access_token,
    refresh: answer.refresh_token ?? before?.refresh,
    id: answer.id_token ?? before?.id,
    expiresAt: Date.now() + (answer.expires_in ?? LIFETIME_SECONDS) * 1_000,
  };
}
