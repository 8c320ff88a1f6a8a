/** Thrown when the sign-in failed. The message is for the user. */
export class SignInError extends Error {}
