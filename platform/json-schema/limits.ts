// Limits of users' JSON Schemas (docs/blocks.md, JSON Schemas).

export const SCHEMA_DEPTH_MAX = 32;
/** JSON values in a schema: objects, arrays and their members. */
export const SCHEMA_NODES_MAX = 2_000;
/** Processor time of one validation; waiting and the thread's start do not count. */
export const VALIDATION_MAX_MS = 200;
/** Processor time of compiling a schema, which is done once; the largest ordinary schema takes about 250 ms. */
export const COMPILATION_MAX_MS = 1_000;
/** Schemas applied along one path into a value: many times what ordinary schemas need, and some milliseconds of work. */
export const SCHEMA_CHECK_STEPS_MAX = 100_000;
/** Threads that one organization may have at a time, and further ones for organizations that have none. */
export const THREADS = 2;
export const RESERVED_THREADS = 2;
/** For how long, and of how many schemas, it is remembered that they take too long. */
export const SLOW_SCHEMA_MS = 5 * 60_000;
export const SLOW_SCHEMAS_MAX = 1_000;
/** Length as JSON. A schema that takes too long for a value this small takes too long for any value. */
export const SMALL_VALUE_LENGTH = 1_000;
/** The phase that a thread reports while it validates. */
export const VALIDATING = 1n;
/** Heap of one thread. */
export const THREAD_HEAP_MAX_MB = 512;
/** Compiled schemas kept by each thread, by number and by the length of their texts. */
export const COMPILED_MAX = 500;
export const COMPILED_MAX_LENGTH = 8 * 1024 * 1024;
export const VALUE_PROBLEMS_MAX = 10;
