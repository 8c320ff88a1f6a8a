// Bounds of users' JSON Schemas (security: "JSON Schema and regular expressions from users").

export const SCHEMA_DEPTH_MAX = 32;
/** JSON values in a schema: objects, arrays and what they hold. */
export const SCHEMA_NODES_MAX = 2_000;
/** Processor time; waiting, for the processor too, and the thread's start do not count. */
export const VALIDATION_MAX_MS = 200;
/** The same; compiling is done once per schema; the largest ordinary schema takes about 250 ms. */
export const COMPILATION_MAX_MS = 1_000;
/** Heap of one thread. */
export const THREAD_HEAP_MAX_MB = 512;
/** Compiled schemas kept by each thread, by number and by the length of their texts. */
export const COMPILED_MAX = 500;
export const COMPILED_MAX_LENGTH = 8 * 1024 * 1024;
export const PROBLEMS_MAX = 10;
