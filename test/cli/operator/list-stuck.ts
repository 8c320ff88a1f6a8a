import type { Weir } from '../../harness.ts';
import { createOperator, type Operator } from '../operator-cli.ts';

type OfWeir = Pick<Weir, 'db' | 'config' | 'url'>;

const operators = new WeakMap<OfWeir, Promise<Operator>>();

/** Gets an operator of a Weir, the same each time. */
export function operatorOf(weir: OfWeir): Promise<Operator> {
  const operator = operators.get(weir) ?? createOperator(weir);
  operators.set(weir, operator);
  return operator;
}

/** Lists the stuck runs of a Weir as its operator does: the reason by executionId. */
export async function listStuck(weir: OfWeir): Promise<{ [executionId: string]: string }> {
  const rows: { executionId: string; reason: string }[] = await (await operatorOf(weir)).succeedJson(
    'operator',
    'runs',
    'stuck',
  );
  return Object.fromEntries(rows.map(({ executionId, reason }) => [executionId, reason]));
}

/** Prints the stuck runs of a Weir as its operator reads them. */
export async function printStuck(weir: OfWeir): Promise<string> {
  return (await operatorOf(weir)).succeed('operator', 'runs', 'stuck');
}
