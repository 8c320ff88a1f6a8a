// Runs inside QuickJS before the user's code and out of its reach: provides input, result and error texts.

/** The functions that the host calls. Every text is a JSON string, so that NUL and lone surrogates reach the host. */
export type Prelude = {
  /** The seeds, 32-bit integers, are those of Math.random. */
  setInput(json: string, a: number, b: number, c: number): void;
  /** Calls the user's function. */
  run(main: (input: unknown, message: unknown, parameters: unknown) => unknown): unknown;
  /** Returns the length of a function's source in UTF-16 units. */
  sourceLength(main: unknown): number;
  /** Returns the value as JSON text, or undefined when it is not JSON: then `problem` says why. */
  serialize(value: unknown): string | undefined;
  problem(): string;
  title(thrown: unknown): string;
  stack(thrown: unknown): string;
};

/**
 * Sets up the guest. QuickJS evaluates the source text of this function, so it uses nothing else from this file. It copies
 * the intrinsics that it needs first and makes objects only from literals, so that nothing which the user's code changes
 * later is looked up again.
 */
export function prelude(depthMax: number): Prelude {
  type Level = { holder: unknown; key: string; up: Level | undefined };
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const toText = String;
  const { slice } = String.prototype;
  const functionToString = Function.prototype.toString;
  const cut = (text: string, end: number): string => apply(slice, text, [0, end]);
  const textOf = (value: unknown, end: number): string => (typeof value === 'string' ? cut(value, end) : '');

  const { defineProperty } = Object;
  let given: { input: unknown; message: unknown; parameters: unknown; outputs?: unknown };
  let problem = '';
  let [seedA, seedB, seedC, counter] = [0, 0, 0, 1];

  /** Returns 32 random bits as a signed integer (sfc32). */
  function nextBits(): number {
    const bits = (seedA + seedB + counter) | 0;
    counter = (counter + 1) | 0;
    seedA = seedB ^ (seedB >>> 9);
    seedB = (seedC + (seedC << 3)) | 0;
    seedC = (((seedC << 21) | (seedC >>> 11)) + bits) | 0;
    return bits;
  }

  function pathOf(level: Level | undefined): string {
    return level === undefined || level.up === undefined ? '' : `${pathOf(level.up)}/${cut(level.key, 100)}`;
  }

  function refuse(what: string, level: Level | undefined, key: string): never {
    const path = pathOf({ holder: undefined, key, up: level });
    problem = `The returned value is not JSON: ${what} at ${path === '' ? 'its top' : cut(path, 300)}`;
    throw undefined;
  }

  /** Serializes strictly: JSON.stringify alone would drop functions, turn NaN into null and keep `__proto__`. */
  function serialize(value: unknown): string | undefined {
    let level: Level | undefined;
    let depth = 0;
    function check(this: unknown, key: string, item: unknown): unknown {
      while (level !== undefined && level.holder !== this) {
        level = level.up;
        depth -= 1;
      }
      if (key === '__proto__') refuse('a key __proto__', level, key);
      if (key === 'prototype' && level?.key === 'constructor' && item !== undefined)
        refuse('a key constructor with a prototype', level, key);
      switch (typeof item) {
        case 'string':
        case 'boolean':
        case 'undefined':
          return item;
        case 'number':
          if (item - item !== 0) refuse(`${item}`, level, key);
          // From 2 ** 53 on, a number may stand for several integers, and below 1e21 it is written with all digits.
          if ((item >= 2 ** 53 && item < 1e21) || (item <= -(2 ** 53) && item > -1e21))
            refuse(`the integer ${item}, whose digits a number does not keep (use String)`, level, key);
          return item;
        case 'object':
          break;
        case 'bigint':
          return refuse('a BigInt (use Number or String)', level, key);
        default:
          return refuse(`a ${typeof item}`, level, key);
      }
      if (item === null) return item;
      for (let above = level; above !== undefined; above = above.up) {
        if (above.holder === item) refuse('an object that contains itself (a cycle)', level, key);
      }
      if (depth >= depthMax) refuse(`more than ${depthMax} levels of nesting`, level, key);
      level = { holder: item, key, up: level };
      depth += 1;
      return item;
    }
    problem = '';
    try {
      return stringify(value, check) ?? 'null';
    } catch (error) {
      if (problem === '') throw error;
      return undefined;
    }
  }

  function title(thrown: unknown): string {
    if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) {
      return `The code threw ${typeof thrown === 'string' ? stringify(cut(thrown, 2000)) : cut(toText(thrown), 2000)}`;
    }
    try {
      const { name, message } = thrown as Error;
      if (typeof message === 'string') return `${textOf(name, 100) || 'Error'}: ${cut(message, 2000)}`;
    } catch {
      return 'The code threw an object whose message cannot be read';
    }
    return 'The code threw an object that is not an Error';
  }

  function stack(thrown: unknown): string {
    try {
      return textOf((thrown as Error).stack, 10_000);
    } catch {
      return '';
    }
  }

  // QuickJS's own generator has its state in the memory that every call starts from: it would repeat its numbers.
  const random = () => ((nextBits() >>> 5) * 0x4000000 + (nextBits() >>> 6)) / 0x20000000000000;
  defineProperty(Math, 'random', { value: random, writable: true, configurable: true });

  return {
    setInput: (json, a, b, c) => {
      given = parse(json);
      seedA = a;
      seedB = b;
      seedC = c;
      // The first numbers after a seed still resemble it.
      for (let i = 0; i < 12; i++) nextBits();
      // A global variable: code may have one of its own with the same name.
      const outputs = given.outputs ?? {};
      defineProperty(globalThis, 'outputs', { value: outputs, writable: true, configurable: true });
    },
    run: (main) => main(given.input, given.message, given.parameters),
    sourceLength: (main) => apply(functionToString, main, []).length,
    serialize,
    problem: () => stringify(problem),
    title: (thrown) => stringify(title(thrown)),
    stack: (thrown) => stringify(stack(thrown)),
  };
}
