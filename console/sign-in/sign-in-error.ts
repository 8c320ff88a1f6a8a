/** The sign-in did not succeed; the message is for the user. */
export class SignInError extends Error {}
