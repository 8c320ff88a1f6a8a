/** Thrown when the sign-in failed. The message is for the user. */
export class SignInError extends Error {}

/** Explains why the identity provider refused. `error` and `description` are OAuth's (RFC 6749, 4.1.2.1). */
export function explainRefusal(error: string, description?: string | null): string {
  const known = Object.hasOwn(REASONS, error) ? REASONS[error] : undefined;
  if (known !== undefined) return known;
  const why = description ? `${error}, ${description.replace(/[.\s]+$/, '')}` : error;
  return `The identity provider refused the sign-in: ${why}. Tell the operator of this service if it happens again.`;
}

/** Whether the refusal is temporary, so that the same request may succeed later. */
export function isBusy({ status, error }: { status: number; error: string }): boolean {
  return status === 408 || status === 429 || ['server_error', 'temporarily_unavailable'].includes(error);
}

const REASONS: { [error: string]: string } = {
  access_denied: 'The sign-in was refused or cancelled.',
  invalid_grant: 'The sign-in took too long, or was completed before. Sign in again.',
  invalid_client:
    'The identity provider does not know the console. Ask the operator of this Weir service to check WEIR_CONSOLE_CLIENT_ID.',
  unauthorized_client:
    'The identity provider does not let the console sign users in. Ask the operator of this Weir service to allow its client the authorization code grant there.',
  invalid_scope:
    'The identity provider does not know what the console asks for. Ask the operator of this Weir service to check WEIR_CONSOLE_SCOPES.',
  invalid_target:
    'The identity provider does not know this service. Ask the operator of this Weir service to register WEIR_OIDC_AUDIENCE there.',
  server_error: 'The identity provider failed. Try again in a moment.',
  temporarily_unavailable: 'The identity provider is busy. Try again in a moment.',
};
