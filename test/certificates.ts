// Makes a certificate authority and server certificates for tests, with openssl.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

type Certificate = { cert: string; key: string };
export type Authority = { pem: string; issue(hosts: string[]): Certificate };

/** Creates an authority; its certificates are valid for a day, for `hosts` (names, or `IP:…`). */
export function createAuthority(): Authority {
  const ca = openssl(({ file, run }) => {
    run('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1',
      '-subj', '/CN=Weir test authority', '-keyout', file('key'), '-out', file('cert')); // biome-ignore format: one command
  });
  return {
    pem: ca.cert,
    issue: (hosts) =>
      openssl(({ file, run }) => {
        writeFileSync(file('ca-cert'), ca.cert);
        writeFileSync(file('ca-key'), ca.key);
        const names = hosts.map((host) => (host.startsWith('IP:') ? host : `DNS:${host}`)).join(',');
        run('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1',
          '-subj', '/CN=receiver', '-addext', `subjectAltName=${names}`, '-addext', 'basicConstraints=critical,CA:FALSE',
          '-CA', file('ca-cert'), '-CAkey', file('ca-key'), '-keyout', file('key'), '-out', file('cert')); // biome-ignore format: one command
      }),
  };
}

type Work = (tools: { file(name: string): string; run(...args: string[]): void }) => void;

/** Runs `work` in a temporary folder and returns the files `cert` and `key` that it made there. */
function openssl(work: Work): Certificate {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-certificates-'));
  const file = (name: string) => path.join(folder, name);
  try {
    work({ file, run: (...args) => void execFileSync('openssl', args, { stdio: 'pipe' }) });
    return { cert: readFileSync(file('cert'), 'utf8'), key: readFileSync(file('key'), 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
