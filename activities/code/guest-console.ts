// biome-ignore-all lint/style/useTemplate: QuickJS calls String.prototype.concat for a template, which the user's code may change
// Runs inside QuickJS before the user's code: the console, whose lines are kept in memory until the code has ended.
import type { CodeLog } from '../../flow/code-log.ts';
import type { LogLimits } from './limits.ts';

/**
 * Sets up the console and returns a function that gives its lines as JSON text. As for the prelude, QuickJS evaluates the source
 * text of this function, and nothing is looked up that the user's code may have changed. Values are formatted without running
 * their getters or `toJSON`.
 */
export function guestConsole({ lines: linesMax, chars: charsMax, lineChars, items, depth }: LogLimits) {
  type Kept = { level: CodeLog['level']; json: string; next: Kept | undefined };
  /** `dropped`: characters that did not fit; `isMore`: there were others, which nobody counted. */
  type Line = { text: string; dropped: number; isMore: boolean };
  type Above = { holder: object; up: Above | undefined };
  const { stringify } = JSON;
  const { apply } = Reflect;
  const toText = String;
  const { isArray } = Array;
  const { isView } = ArrayBuffer;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
  const { slice } = String.prototype;
  const { isPrototypeOf: precedes } = Object.prototype;
  const { toISOString } = Date.prototype;
  const [errors, dates, regExps, maps, sets] = [
    Error.prototype,
    Date.prototype,
    RegExp.prototype,
    Map.prototype,
    Set.prototype,
  ];
  const regExpToString = RegExp.prototype.toString;
  const eachOfMap = Map.prototype.forEach;
  const eachOfSet = Set.prototype.forEach;
  /** The members of a line besides its text, as JSON. */
  const LINE_CHARS = 32;
  const PROTOTYPES_MAX = 10;

  let head: Kept | undefined;
  let tail: Kept | undefined;
  /** The last of the first lines, which are kept; after it, the oldest line makes room for a new one. */
  let firstEnd: Kept | undefined;
  let [lines, chars, omitted] = [0, 0, 0];

  const cut = (text: string, end: number): string => apply(slice, text, [0, end]);
  const sizeOf = ({ json }: Kept): number => json.length + LINE_CHARS;
  const isOf = (prototype: object, value: object): boolean => apply(precedes, prototype, [value]);

  /** Returns the first characters of a line, with a mark that says how many are cut. */
  function textOf({ text, dropped, isMore }: Line, end: number): string {
    const missing = dropped + (text.length > end ? text.length - end : 0);
    if (missing === 0) return text;
    return cut(text, end) + '… [characters cut: ' + (isMore ? 'at least ' : '') + missing + ']';
  }

  function keep(level: CodeLog['level'], written: Line): void {
    let json = stringify(textOf(written, lineChars));
    // Characters that JSON escapes.
    if (json.length > charsMax / 4) json = stringify(textOf(written, lineChars / 4));
    const line: Kept = { level, json, next: undefined };
    if (tail === undefined) head = line;
    else tail.next = line;
    tail = line;
    lines += 1;
    chars += sizeOf(line);
    if (firstEnd === undefined && (lines >= linesMax / 2 || chars >= charsMax / 2)) firstEnd = line;
    while (lines > linesMax || chars > charsMax) {
      const oldest = firstEnd?.next;
      if (firstEnd === undefined || oldest === undefined) return;
      firstEnd.next = oldest.next;
      lines -= 1;
      chars -= sizeOf(oldest);
      omitted += 1;
    }
  }

  function write(line: Line, text: string): void {
    const free = lineChars - line.text.length;
    line.text += cut(text, free);
    if (text.length > free) line.dropped += text.length - free;
  }

  function writeQuoted(line: Line, text: string): void {
    write(line, stringify(cut(text, lineChars + 1)));
    if (text.length <= lineChars + 1) return;
    line.dropped += text.length - lineChars - 1;
    line.isMore = true;
  }

  /** Reads a property of an object or its prototypes, unless it is a getter. */
  function dataOf(value: object, key: string): unknown {
    let holder: object | null = value;
    for (let hops = 0; holder !== null && hops < PROTOTYPES_MAX; hops++) {
      const found = getOwnPropertyDescriptor(holder, key);
      if (found !== undefined) return found.value;
      holder = getPrototypeOf(holder);
    }
    return undefined;
  }

  function nameOf(value: unknown): string {
    const name = typeof value === 'function' ? getOwnPropertyDescriptor(value, 'name')?.value : '';
    return typeof name === 'string' ? cut(name, 100) : '';
  }

  function writeValue(line: Line, value: unknown, up: Above | undefined, level: number): void {
    if (typeof value === 'string' && level === 0) write(line, value);
    else if (typeof value === 'string') writeQuoted(line, value);
    else if (line.dropped > 0) line.isMore = true;
    else if (typeof value === 'bigint') write(line, toText(value) + 'n');
    else if (typeof value === 'function') write(line, '[Function ' + (nameOf(value) || '(anonymous)') + ']');
    else if (typeof value !== 'object' || value === null) write(line, toText(value));
    else writeObject(line, value, up, level);
  }

  function writeObject(line: Line, value: object, up: Above | undefined, level: number): void {
    if (isOf(errors, value)) {
      write(line, toText(dataOf(value, 'name')) + ': ' + toText(dataOf(value, 'message')));
      return;
    }
    if (isOf(dates, value)) {
      write(line, apply(toISOString, value, []));
      return;
    }
    if (isOf(regExps, value)) {
      write(line, apply(regExpToString, value, []));
      return;
    }
    for (let above = up; above !== undefined; above = above.up)
      if (above.holder === value) {
        write(line, '[Circular]');
        return;
      }
    const className = nameOf(dataOf(value, 'constructor'));
    if (level >= depth || isView(value)) {
      write(line, '[' + (className || 'Object') + ']');
      return;
    }
    const inner = { holder: value, up };
    let written = 0;
    /** Writes what precedes an item, and returns whether the item is to be written. */
    const begin = (): boolean => {
      written += 1;
      if (line.dropped > 0) line.isMore = true;
      if (written > items || line.dropped > 0) return false;
      if (written > 1) write(line, ', ');
      return true;
    };
    const writeItem = (item: unknown): void => writeValue(line, item, inner, level + 1);
    const end = (bracket: string): void =>
      write(line, written > items ? ', … ' + (written - items) + ' more' + bracket : bracket);
    if (isArray(value)) {
      write(line, '[');
      const { length } = value;
      for (let i = 0; i < length && i < items; i++) if (begin()) writeItem(dataOf(value, toText(i)));
      written = length;
      end(']');
      return;
    }
    if (isOf(maps, value)) {
      write(line, 'Map {');
      const writePair = (item: unknown, key: unknown): void => {
        if (!begin()) return;
        writeItem(key);
        write(line, ' => ');
        writeItem(item);
      };
      apply(eachOfMap, value, [writePair]);
      end('}');
      return;
    }
    if (isOf(sets, value)) {
      write(line, 'Set {');
      apply(eachOfSet, value, [(item: unknown): void => void (begin() && writeItem(item))]);
      end('}');
      return;
    }
    write(line, className === '' || className === 'Object' ? '{' : className + ' {');
    const names = keys(value);
    for (let i = 0; i < names.length && i < items; i++) {
      const name = names[i] as string;
      const property = getOwnPropertyDescriptor(value, name);
      if (property === undefined || !begin()) continue;
      writeQuoted(line, name);
      write(line, ': ');
      if (property.get === undefined) writeItem(property.value);
      else write(line, '[Getter]');
    }
    written = names.length;
    end('}');
  }

  function record(level: CodeLog['level'], values: unknown[], from = 0): void {
    const line = { text: '', dropped: 0, isMore: false };
    for (let i = from; i < values.length; i++) {
      if (i > from) write(line, ' ');
      try {
        writeValue(line, values[i], undefined, 0);
      } catch {
        // A proxy or a revoked one, for instance.
        write(line, '[unreadable]');
      }
    }
    keep(level, line);
  }

  const at =
    (level: CodeLog['level']) =>
    (...values: unknown[]): void =>
      record(level, values);
  const log = at('log');
  const nothing = (): void => undefined;
  const console = {
    log,
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    debug: at('debug'),
    trace: at('debug'),
    dir: (value: unknown): void => record('log', [value]),
    dirxml: log,
    table: (value: unknown): void => record('log', [value]),
    group: log,
    groupCollapsed: log,
    assert: (holds: unknown, ...values: unknown[]): void => {
      if (holds) return;
      values[0] = values.length === 0 ? 'Assertion failed' : values[0];
      record('error', values);
    },
    // Code brought from elsewhere may call these.
    clear: nothing,
    count: nothing,
    countReset: nothing,
    groupEnd: nothing,
    time: nothing,
    timeEnd: nothing,
    timeLog: nothing,
  };
  defineProperty(globalThis, 'console', { value: console, writable: true, configurable: true });

  /** Returns the lines as the JSON text of CodeLog[]. */
  return function logs(): string {
    let text = '';
    for (let line = head; line !== undefined; line = line.next) {
      const gap = omitted > 0 && line === firstEnd?.next ? ',"omittedBefore":' + omitted : '';
      text += (text === '' ? '' : ',') + '{"level":"' + line.level + '","text":' + line.json + gap + '}';
    }
    return '[' + text + ']';
  };
}
