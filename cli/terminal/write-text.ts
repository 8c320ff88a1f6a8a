import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../../flow/errors.ts';

const UNWRITABLE: { [code: string]: string } = {
  EACCES: 'you may not write there',
  EEXIST: 'what should be its folder is a file',
  EISDIR: 'it is a folder: add the name of the file',
  ENOTDIR: 'what should be its folder is a file',
  EROFS: 'nothing can be written there',
};

/** Writes a file, in a folder that it makes where there is none. Throws a VALIDATION_ERROR that says what is wrong. */
export async function writeText(file: string, text: string): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new ServiceError('VALIDATION_ERROR', `${file} cannot be written: ${UNWRITABLE[code] ?? message}.`);
  }
}
