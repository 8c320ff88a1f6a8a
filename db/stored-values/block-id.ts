/** The id of a block execution: a call of a run, and the key of the block in it. */
export type BlockId = { callId: string; blockKey: string };
