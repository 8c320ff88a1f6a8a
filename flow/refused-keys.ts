/** Keys that reach an object's prototype: refused from callers, and never given to callers in what they send back. */
export const REFUSED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);
