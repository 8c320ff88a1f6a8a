type StreamEvent = { event: string; data: unknown };

/** How `followStream` follows a stream; types alone, which programs without a browser can read. */
export type FollowOptions = {
  isLast: (event: StreamEvent) => boolean;
  onEvent: (event: StreamEvent) => void;
  /** Called when the stream ended before its time; answers true when nothing more is to come. */
  onInterrupted: () => Promise<boolean>;
  /** Called with the id of a run that a refused request has begun all the same. */
  onNamed?: (executionId: string) => void;
  signal: AbortSignal;
};
