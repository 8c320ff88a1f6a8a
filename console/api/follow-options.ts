type StreamEvent = { event: string; data: unknown };

/** The options of `followStream`, in a file of their own so that tests can import the types without the browser's. */
export type FollowOptions = {
  isLast: (event: StreamEvent) => boolean;
  onEvent: (event: StreamEvent) => void;
  /** Called when the stream ended too early. Resolves to true when no further events are expected. */
  onInterrupted: () => Promise<boolean>;
  /** Called with the id of a run that was started although its request was refused. */
  onNamed?: (executionId: string) => void;
  signal: AbortSignal;
};
