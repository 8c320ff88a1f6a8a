// The console lines of a block's code, for the trace.

export const LOG_LEVELS = ['log', 'info', 'warn', 'error', 'debug'] as const;

/** A line that one call of a function of `console` wrote. Of many lines, the middle is left out. */
export type CodeLog = {
  level: (typeof LOG_LEVELS)[number];
  text: string;
  /** The number of lines that were left out before this line. */
  omittedBefore?: number;
};
