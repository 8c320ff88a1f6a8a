import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { openStateFolder } from '../../dev/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';

/** The host of the certificate; it does not exist in DNS. */
export const LISTEN_HOST = 'listen.weir.test';

/** Reads the self-signed certificate in the state folder, or lets openssl create it; `file` is its PEM file. */
export async function listenCertificate(): Promise<{ cert: string; key: string; file: string }> {
  const folder = path.join(openStateFolder(), 'listen');
  const [file, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3650'],
      ...['-subj', `/CN=${LISTEN_HOST}`, '-addext', `subjectAltName=DNS:${LISTEN_HOST}`],
      ...['-keyout', keyFile, '-out', `${file}.new`],
    ]).catch((error: Error) => {
      throw new ServiceError(
        'INTERNAL_ERROR',
        `openssl could not create a certificate: ${error.message}. Install OpenSSL 3, or use --http.`,
      );
    });
    renameSync(`${file}.new`, file);
  }
  return { cert: readFileSync(file, 'utf8'), key: readFileSync(keyFile, 'utf8'), file };
}
