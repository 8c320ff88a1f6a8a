// Reads the source of a code block without running it: whether it parses, which outputs and undefined names it uses, and
// whether it returns a value.
import { Script } from 'node:vm';
import {
  type Expression,
  type ExpressionStatement,
  type FunctionExpression,
  type Identifier,
  type MemberExpression,
  type Node,
  Parser,
  type Pattern,
  type Program,
} from 'acorn';
import { recursive, type SimpleVisitors, simple } from 'acorn-walk';
import { FLOW_STEPS_MAX } from '../../flow/limits.ts';

const VARIABLE = 'outputs';

/** More than a flow can have steps: a source with more names asks for a step that is not there, whichever are left out. */
const NAMES_MAX = FLOW_STEPS_MAX + 10;

/** More than a step_id can have: a longer name is that of no step, however much of it is kept. */
const NAME_MAX_LENGTH = 65;

/** Maximum number of undefined names that are reported. */
const UNDEFINED_MAX = 5;

/** The names that code has in its sandbox. */
export const SANDBOX_GLOBALS = new Set(
  `Object Function Error EvalError RangeError ReferenceError SyntaxError TypeError URIError InternalError AggregateError Iterator Array
  parseInt parseFloat isNaN isFinite queueMicrotask decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape Infinity
  NaN undefined Number Boolean String Math Reflect Symbol eval globalThis Date RegExp JSON Proxy Map Set WeakMap WeakSet ArrayBuffer
  SharedArrayBuffer Uint8ClampedArray Int8Array Uint8Array Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array
  Float16Array Float32Array Float64Array DataView Promise BigInt WeakRef FinalizationRegistry DOMException performance console
  outputs`.split(/\s+/),
);
const CODE_NAMES = new Set([...SANDBOX_GLOBALS, 'input', 'message', 'parameters', 'arguments']);

/** Leaves out checks that take seconds for many names or groups: V8 has made them by then. */
const CodeParser = Parser.extend(
  (Base) =>
    class extends Base {
      declareName() {}
      validateRegExpPattern() {}
    },
);

/** The visitors of assigned variables and members, which the types of acorn-walk leave out. */
type Visitors = SimpleVisitors<unknown> & {
  VariablePattern?(node: Identifier): void;
  MemberPattern?(node: MemberExpression): void;
};

const FILE_NAME = 'block.js';
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;

const HEAD = '(async function (input, message, parameters) {';

/** A syntax error, with its place in the source where it has one: `line` and `column` count from 1. */
type CodeProblem = { message: string; line?: number; column?: number };

/**
 * A source's syntax error, if it has one, and the steps whose outputs it names for sure. `returnsNothing`: it can end, and never
 * returns a value. `undefinedNames`: the first names that it uses and that neither it nor the sandbox defines.
 */
export type CodeFindings = {
  problem?: CodeProblem | undefined;
  named: string[];
  returnsNothing?: boolean;
  undefinedNames?: string[];
};

/** Reads the source of a code block where the caller runs: for tens of milliseconds, when it is as long as a source may be. */
export function readCode(source: string): CodeFindings {
  const program = attempt(() => parse(source));
  // Nothing is said of code that does not parse.
  const walk = <Found>(find: (program: Program) => Found) => program && attempt(() => find(program));
  const undefinedNames = walk(listUndefinedNames) ?? [];
  return {
    problem: findCodeProblem(source),
    named: walk(listOutputsNamed) ?? [],
    ...(walk(returnsNothing) && { returnsNothing: true }),
    ...(undefinedNames.length > 0 && { undefinedNames }),
  };
}

/** Returns undefined for a SyntaxError, which `findCodeProblem` describes, and a RangeError of code that is nested too deep. */
function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Finds the syntax error of a code block's source. */
export function findCodeProblem(source: string): CodeProblem | undefined {
  try {
    new Script(`${HEAD}${source}\n})`, { filename: FILE_NAME });
  } catch (error) {
    return describe(error as Error, source.split('\n').length);
  }
  try {
    // A source that closes the function early and opens another is not the body of one function.
    AsyncFunction('input', 'message', 'parameters', source);
  } catch {
    return { message: 'SyntaxError: the code closes a brace that it did not open.' };
  }
  return undefined;
}

function describe(error: Error, lines: number): CodeProblem {
  if (error instanceof RangeError) return { message: 'SyntaxError: the code is nested too deeply.' };
  const { message, stack = '' } = error;
  const line = Number(new RegExp(`^${FILE_NAME}:(\\d+)`).exec(stack)?.[1]);
  if (line > lines) return { message: 'SyntaxError: the code ends before all that it opens is closed.' };
  if (!line) return { message: `SyntaxError: ${message}.` };
  // The stack shows the line, and below it marks the place.
  const [, , marks = ''] = stack.split('\n');
  const column = marks.indexOf('^') + 1 - (line === 1 ? HEAD.length : 0);
  return {
    message: `SyntaxError: ${message} (line ${line} of the code).`,
    line,
    ...(column > 0 && { column }),
  };
}

/**
 * Lists the steps that code names for sure, each once: in `outputs.extract`, `outputs['extract']` and `const { extract } =
 * outputs`. It names none when it has a variable `outputs` of its own.
 */
function listOutputsNamed(program: Program): string[] {
  const named = new Set<string>();
  const assigned = new Set<string>();
  let ownVariable = false;
  const addPattern = (pattern: Pattern, value: Expression | null | undefined) => {
    if (isOutputs(value)) for (const name of listKeys(pattern)) named.add(name);
  };
  const visitors: Visitors = {
    VariablePattern({ name }) {
      if (name === VARIABLE) ownVariable = true;
    },
    MemberExpression(member) {
      for (const name of listMember(member)) named.add(name);
    },
    MemberPattern(member) {
      for (const name of listMember(member)) assigned.add(name);
    },
    VariableDeclarator: ({ id, init }) => addPattern(id, init),
    AssignmentExpression: ({ left, right }) => addPattern(left, right),
    AssignmentPattern: ({ left, right }) => addPattern(left, right),
  };
  simple(program, visitors);
  if (ownVariable) return [];
  // Members that every object has, such as hasOwnProperty, are not names of steps.
  const steps = [...named].filter((name) => !assigned.has(name) && !(name in Object.prototype));
  return steps.slice(0, NAMES_MAX).map((name) => name.slice(0, NAME_MAX_LENGTH));
}

function parse(source: string): Program {
  return CodeParser.parse(`(async function () {${source}\n})`, { ecmaVersion: 'latest' });
}

/** Tells whether code has no `return` of a value outside of the functions in it. Code that ends by throwing is no such code. */
function returnsNothing({ body: [statement] }: Program): boolean {
  const block = ((statement as ExpressionStatement).expression as FunctionExpression).body;
  if (block.body.at(-1)?.type === 'ThrowStatement') return false;
  let found = false;
  recursive(block, undefined, {
    Function() {},
    ReturnStatement({ argument }) {
      if (argument) found = true;
    },
  });
  return !found;
}

/**
 * Lists the first names that code uses and that are defined neither anywhere in it nor in the sandbox, such as `fetch`. A name
 * after `typeof` counts as defined. Lists none for code that may define names in other ways.
 */
function listUndefinedNames(program: Program): string[] {
  const used = new Set<string>();
  const defined = new Set<string>();
  let isOpen = false;
  const visitors: Visitors = {
    VariablePattern: ({ name }) => void defined.add(name),
    Identifier: ({ name }) => void used.add(name),
    UnaryExpression({ operator, argument }) {
      if (operator === 'typeof' && argument.type === 'Identifier') defined.add(argument.name);
    },
    ImportExpression: () => void used.add('import'),
    WithStatement() {
      isOpen = true;
    },
  };
  simple(program, visitors);
  if (isOpen || used.has('eval') || used.has('globalThis') || used.has('Function')) return [];
  return [...used]
    .filter((name) => !defined.has(name) && !CODE_NAMES.has(name))
    .slice(0, UNDEFINED_MAX)
    .map((name) => name.slice(0, NAME_MAX_LENGTH));
}

function listMember({ object, property, computed }: MemberExpression): string[] {
  if (!isOutputs(object) || property.type === 'PrivateIdentifier') return [];
  return listKey(property, computed);
}

function listKeys(pattern: Pattern): string[] {
  if (pattern.type !== 'ObjectPattern') return [];
  return pattern.properties.flatMap((part) =>
    part.type === 'Property' ? listKey(part.key, part.computed) : [],
  );
}

function listKey(key: Expression, computed: boolean): string[] {
  if (key.type === 'Identifier') return computed ? [] : [key.name];
  return key.type === 'Literal' ? [String(key.value)] : [];
}

function isOutputs(node: Node | null | undefined): boolean {
  return node?.type === 'Identifier' && (node as Identifier).name === VARIABLE;
}
