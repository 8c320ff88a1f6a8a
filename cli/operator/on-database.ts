// What the operator's commands share: the connection to the database, the actor in the audit log, and records by path.
import { connect, type Db } from '../../db/connect.ts';
import { openObjectStore } from '../../platform/object-store/open-object-store.ts';
import { type CommandResult, printed } from '../terminal/print-result.ts';
import { databaseUrl, objectStore } from './environment.ts';

/** Makes a command's action: connects to the database, runs `work` with the parsed arguments and prints its result. */
export function onDatabase<A extends unknown[]>(work: (db: Db, ...args: A) => Promise<CommandResult>) {
  return printed<A>(async (...args) => {
    const objects = await openObjectStore(objectStore());
    const db = connect(databaseUrl(), 2, undefined, objects);
    try {
      return await work(db, ...args);
    } finally {
      await db.destroy();
      objects?.close();
    }
  });
}
