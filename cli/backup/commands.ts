// cli/backup/ copies what Weir stores, and restores it: the database of DATABASE_URL, or the state of `npm start`.
import type { Command } from 'commander';
import { printedBy } from '../terminal/print.ts';

/** Adds `weir backup` and `weir restore`. */
export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write a backup of the database; the service keeps running')
    .argument('<file>', 'the file to write, such as weir.dump; it must not exist')
    .addHelpText(
      'after',
      '\nBacks up the database of DATABASE_URL with pg_dump. Keep the keys of secrets\n' +
        'and the pepper beside the file: without them nobody can read the secrets in\n' +
        'it, or use its API keys.\n\nWithout DATABASE_URL, it copies the state of a stopped npm start to a folder,\n' +
        'with its secrets.\n\nExample:\n  weir backup weir.dump',
    )
    .action(printedBy(async () => (await import('./backup.ts')).backup));
  program
    .command('restore')
    .description('restore the database from a backup, while no process of Weir runs')
    .argument('<file>', 'the file, or the folder, of weir backup')
    .option('--replace', 'delete the present contents of the database')
    .addHelpText(
      'after',
      '\nRestores a file into the database of DATABASE_URL, else a folder into the\n' +
        'state of npm start. Start Weir afterwards on a Temporal without its\n' +
        'workflows: a new namespace or a new server (npm start gets one).\n\nExample:\n  weir restore weir.dump',
    )
    .action(printedBy(async () => (await import('./backup.ts')).restore));
}
