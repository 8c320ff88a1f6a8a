/**
 * The process has given a model call up that nobody took over. What the call has reserved and shows belongs to the attempt that
 * may follow elsewhere.
 */
export class CallForsaken extends Error {}
