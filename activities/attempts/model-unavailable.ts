const STATUS_MAX = 599;

/** A failed model call that may succeed when retried: network, timeout, 408, 409, 429, 5xx, or an unreadable answer. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable';
  /** The delay that the provider asked for, at most 60 s; undefined when it named none. */
  readonly retryAfterMs: number | undefined;
  /** Whether the provider sent an unreadable answer. The call may be billed, so it is retried fewer times. */
  readonly isUnreadable: boolean;
  /** The status of the provider's answer, or that which a gateway reports in an answer with status 200, where it was the reason. */
  readonly status: number | undefined;
  /** How long the attempt took, where another attempt reports its failure. */
  readonly tookMs: number | undefined;

  constructor(
    message: string,
    { retryAfterMs, isUnreadable = false, status, tookMs }: Partial<ModelUnavailable> = {},
  ) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.isUnreadable = isUnreadable;
    this.status = status;
    this.tookMs = tookMs;
  }

  /** Names the reason in metrics and spans. */
  get type(): string {
    if (this.status !== undefined) return this.status <= STATUS_MAX ? String(this.status) : '_OTHER';
    return this.isUnreadable ? 'unreadable' : 'unreachable';
  }
}
