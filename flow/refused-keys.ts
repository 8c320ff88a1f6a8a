/** Keys that reach for an object's prototype: no caller sends them, and nobody is handed what is to be sent back with them. */
export const REFUSED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);
