// The TCP ports of a local start.
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findAnyFreePort } from '../../platform/observability/find-any-free-port.ts';
import type { Report } from '../progress.ts';
import { takeProcessLock } from './process-lock.ts';

const API_PORT = 8787;
const LOOPBACK = '127.0.0.1';
const NEIGHBOURS = 100;

/** Finds a free port on loopback: `preferred`, or a port picked by the system. */
export async function findFreePort(preferred?: number): Promise<number> {
  return preferred && (await isPortFree(preferred, LOOPBACK)) ? preferred : findAnyFreePort();
}

/**
 * Reserves `usual`, or when that is taken the first free port from `first` on, and reports the change. No other start
 * on this machine gets the port while this process lives: a server may need minutes before it listens.
 */
export async function reservePort(
  name: string,
  usual: number,
  first: number,
  report: Report,
  host = LOOPBACK,
): Promise<number> {
  let problem = '';
  for (const port of [usual, ...Array.from({ length: NEIGHBOURS }, (_, i) => first + i)]) {
    try {
      if (!(await isPortFree(port, host)) || !reserve(port)) continue;
    } catch (error) {
      // The file may belong to another user, and be stale: the next port may do.
      problem = ` (${error})`;
      continue;
    }
    if (port !== usual) report(`  ! Port ${usual} is taken by another program; ${name} uses ${port}.`);
    return port;
  }
  throw new Error(`No port from ${first} to ${first + NEIGHBOURS - 1} is free for ${name}${problem}.`);
}

/** Reserves the API's port: WEIR_PORT, else the one used before, else 8787 or a later one. Throws when WEIR_PORT is taken. */
export async function chooseApiPort(
  host: string,
  configured: string | undefined,
  remembered: number | undefined,
  report: Report,
): Promise<number> {
  const port = Number(configured);
  if (!configured || port === 0)
    return reservePort('the API', remembered ?? API_PORT, API_PORT, report, host);
  if ((await isPortFree(port, host)) && reserveIfPossible(port)) return port;
  throw new Error(
    `Port ${port} on ${host} (WEIR_PORT) is taken. Stop the program that uses it, or set WEIR_PORT to another one.`,
  );
}

function isPortFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

function reserve(port: number): boolean {
  const lock = takeProcessLock(path.join(tmpdir(), `weir-port-${port}.json`));
  if (lock.taken) process.once('exit', lock.release);
  return lock.taken;
}

/** Answers false only where another start has reserved the port: a stale file of another user must not keep it from anybody. */
function reserveIfPossible(port: number): boolean {
  try {
    return reserve(port);
  } catch {
    return true;
  }
}
