// The few commands of operators that work on the database itself: the first key, and the rotation of secrets.
import type { Db } from '../../db/connect.ts';
import { type CommandResult, printed } from '../terminal/print.ts';

type Work<A extends unknown[]> = (db: Db, ...args: A) => Promise<CommandResult>;

/**
 * Makes a command's action: connects to the database, runs the work with the parsed arguments and prints its result. All other
 * commands load nothing of the database.
 */
export function onDatabase<A extends unknown[]>(load: () => Promise<Work<A>>) {
  return printed<A>(async (...args) => {
    const { connect } = await import('../../db/connect.ts');
    const { databaseUrl } = await import('./environment.ts');
    const work = await load();
    const db = connect(databaseUrl(), 1);
    try {
      return await work(db, ...args);
    } finally {
      await db.destroy();
    }
  });
}
