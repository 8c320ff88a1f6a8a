const { NODE_COMPILE_CACHE } = process.env;

/**
 * How a thread starts: it sees none of the process's secrets, and finds the code that earlier ones compiled. Without that it
 * would load the compiler of TypeScript, which takes 11 MB.
 */
export const THREAD_OPTIONS = { env: NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}, execArgv: [] };
