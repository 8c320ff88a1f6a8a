// Reads and writes the files that arguments name; `-` is standard input.
import { mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ServiceError } from '../../flow/errors.ts';

const UNWRITABLE: { [code: string]: string } = {
  EACCES: 'you may not write there',
  EEXIST: 'what should be its folder is a file',
  EISDIR: 'it is a folder: add the name of the file',
  ENOTDIR: 'what should be its folder is a file',
  EROFS: 'nothing can be written there',
};

/** Reads a file as UTF-8 text; `-` is standard input. Throws VALIDATION_ERROR with the cause. */
export async function readSource(source: string): Promise<string> {
  const bytes =
    source === '-' ? await buffer(process.stdin) : await readFile(source).catch(unreadable(source));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceError('VALIDATION_ERROR', `${source} is not UTF-8 text.`);
  }
}

/** Throws for a file what `readSource` would, without reading it. */
export async function requireReadable(file: string): Promise<void> {
  const handle = await open(file).catch(unreadable(file));
  try {
    await handle.read({ buffer: Buffer.alloc(1) }).catch(unreadable(file));
  } finally {
    await handle.close();
  }
}

function unreadable(source: string) {
  return (error: NodeJS.ErrnoException): never => {
    const why = {
      ENOENT: 'the file does not exist',
      EISDIR: 'it is a folder',
      EACCES: 'you may not read it',
    };
    const reason = why[error.code as keyof typeof why] ?? error.message;
    throw new ServiceError('VALIDATION_ERROR', `${source} cannot be read: ${reason}.`);
  };
}

/**
 * Writes a file, and creates its folder if missing. Throws VALIDATION_ERROR with the cause; the file is then as it was before,
 * also on a full disk.
 */
export async function writeText(file: string, text: string): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    const found = await stat(file).catch(() => undefined);
    // Such as /dev/stdout, which nothing can take the place of.
    if (found && !found.isFile()) return await writeFile(file, text);
    const target = found ? await realpath(file) : file;
    const written = `${target}.${process.pid}`;
    try {
      await writeFile(written, text, found && { mode: found.mode });
      await rename(written, target);
    } finally {
      await rm(written, { force: true });
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new ServiceError('VALIDATION_ERROR', `${file} cannot be written: ${UNWRITABLE[code] ?? message}.`);
  }
}
