import type { Command } from 'commander';
import { connect, type Db } from '../../db/connect.ts';
import { type CommandResult, printResult } from '../terminal/print-result.ts';
import { databaseUrl } from './environment.ts';

/** Makes a command's action: connects to the database, runs `work` with the parsed arguments and prints its result. */
export function onDatabase<A extends unknown[]>(work: (db: Db, ...args: A) => Promise<CommandResult>) {
  return async (...args: [...A, Command]): Promise<void> => {
    const command = args.at(-1) as Command;
    const db = connect(databaseUrl(), 2);
    try {
      printResult(await work(db, ...(args.slice(0, -1) as A)), command);
    } finally {
      await db.destroy();
    }
  };
}
