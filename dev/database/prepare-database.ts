// The database of a local start. A process of its own prepares it and ends: the start, which runs for days, would keep in memory
// what that takes.
import { fork } from 'node:child_process';
import path from 'node:path';
import type { Progress } from '../progress.ts';
import type { FirstMember } from './demo-data.ts';

export type Preparation = {
  databaseUrl: string;
  /** Whether the server is that of the start, whose password the state folder has. */
  ownServer: boolean;
  apiKeyPepper: string;
  /** The demo API key of an earlier start. */
  knownKey: string | undefined;
  /** The members of a demo organization that has none. */
  members: FirstMember[];
};

export type Answer = { doing: string } | { apiKey: string; migrations: number } | { problem: string };

/** Brings the schema up to date, provides the demo data and returns a working demo API key. Throws an Error. */
type Prepare = (request: Preparation, progress: Progress) => Promise<string>;

/**
 * Starts the process, so that it has loaded its code when the database answers, and returns what makes it work, once. It ends
 * with this process at the latest.
 */
export function startPreparer(): Prepare {
  const child = fork(path.join(import.meta.dirname, 'program.ts'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Ctrl-C in a terminal reaches only the start, which lets go of this process when it ends.
    detached: true,
  });
  const ended = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) =>
      reject(new Error(`The process that prepares the database ended with ${signal ?? `code ${code}`}.`)),
    );
  });
  // The start may fail before it asks for anything.
  ended.catch(() => undefined);
  return async (request, progress) => {
    const task = progress.begin('Database');
    const prepared = new Promise<string>((resolve, reject) => {
      child.on('message', (answer: Answer) => {
        if ('doing' in answer) return task.say(answer.doing);
        if ('problem' in answer) return reject(new Error(answer.problem));
        const { apiKey, migrations } = answer;
        task.done(migrations > 0 ? `applied ${migrations} migrations` : 'schema is up to date');
        resolve(apiKey);
      });
    });
    if (child.connected) child.send(request, () => undefined);
    try {
      return await Promise.race([prepared, ended]);
    } finally {
      task.drop();
    }
  };
}
