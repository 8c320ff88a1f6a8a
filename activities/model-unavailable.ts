/** A model call that may succeed when repeated: network, timeout, 408, 409, 429, 5xx, or a garbled answer. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable';
  /** How long the provider asked to be left alone, at most 60 s; undefined when it did not say. */
  readonly retryAfterMs: number | undefined;
  /** Something was answered that can't be read: it may have been paid, and is not asked for as often. */
  readonly isUnreadable: boolean;

  constructor(message: string, { retryAfterMs, isUnreadable = false }: Partial<ModelUnavailable> = {}) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.isUnreadable = isUnreadable;
  }
}
