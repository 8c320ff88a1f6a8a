// The few commands of operators that work on the database itself: the first key, and the rotation of secrets.
import { connect, type Db } from '../../db/connect.ts';
import { type CommandResult, printed } from '../terminal/print.ts';
import { databaseUrl } from './environment.ts';

/** Makes a command's action: connects to the database, runs `work` with the parsed arguments and prints its result. */
export function onDatabase<A extends unknown[]>(work: (db: Db, ...args: A) => Promise<CommandResult>) {
  return printed<A>(async (...args) => {
    const db = connect(databaseUrl(), 1);
    try {
      return await work(db, ...args);
    } finally {
      await db.destroy();
    }
  });
}
