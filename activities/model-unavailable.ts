/** A model call that may succeed when repeated: network, timeout, 408, 409, 429, 5xx, or a garbled answer. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable';
  /** How long the provider asked to be left alone, at most 60 s; undefined when it did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
