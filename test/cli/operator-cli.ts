// Runs `weir` commands over HTTP with an operator's key.
import assert from 'node:assert/strict';
import type { Weir } from '../harness.ts';
import { createOperatorKey } from '../operator-key.ts';
import { type Outcome, weirIn } from './cli-harness.ts';

export type Operator = {
  key: string;
  keyId: string;
  /** Its name in the audit log. */
  actor: string;
  env: { [name: string]: string };
  run(...args: string[]): Promise<Outcome>;
  /** Runs a command that must succeed; returns its stdout. */
  succeed(...args: string[]): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and assert what they find
  succeedJson(...args: string[]): Promise<any>;
};

/** Creates an operator of a Weir. */
export async function createOperator(weir: Pick<Weir, 'db' | 'config' | 'url'>): Promise<Operator> {
  const { key, keyId, actor } = await createOperatorKey(weir);
  const env = { WEIR_STATE_DIR: '/nonexistent', WEIR_URL: weir.url, WEIR_OPERATOR_KEY: key };
  const run = (...args: string[]) => weirIn(env, args);
  async function succeed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  const succeedJson = async (...args: string[]) => JSON.parse(await succeed(...args, '--json'));
  return { key, keyId, actor, env, run, succeed, succeedJson };
}
