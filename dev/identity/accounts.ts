// Accounts of the embedded identity provider: created by the first start, passwords stored as scrypt hashes.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Role } from '../../db/schema.ts';
import { readState, writeState } from '../state-folder.ts';

const FILE = 'identity-accounts.json';
const HASH_BYTES = 32;
const derive = promisify<string, Buffer, number, { N: number; maxmem: number }, Buffer>(scrypt);
/** Costs 32 MiB and about 100 ms for each guess. */
const COST = { N: 2 ** 15, maxmem: 64 * 1024 * 1024 };

/** `id` is the `sub` of the account's tokens, thus its user id; `role` is its role in the demo organization. */
export type Account = { id: string; email: string; role: Role; salt: string; hash: string };

const FIRST_ACCOUNTS = (['owner', 'admin', 'member'] as const).map((role) => ({
  id: `dev-${role}`,
  email: `${role}@weir.local`,
  role,
}));

export type ProvidedAccounts = {
  accounts: Account[];
  /** The passwords of accounts created just now, which are stored nowhere: the only chance to show them. */
  passwords: [email: string, password: string][];
  /** Writes new accounts into the folder, once somebody has seen their passwords: until then a start creates others. */
  keepAccounts(): void;
};

/** Reads the accounts of this folder, or creates them. */
export async function provideAccounts(stateFolder: string): Promise<ProvidedAccounts> {
  const existing = readState<Account[]>(stateFolder, FILE);
  if (existing) return { accounts: existing, passwords: [], keepAccounts: () => undefined };
  const accounts: Account[] = [];
  const passwords: [string, string][] = [];
  for (const account of FIRST_ACCOUNTS) {
    const password = randomBytes(12).toString('base64url');
    const salt = randomBytes(16);
    const hash = await derive(password, salt, HASH_BYTES, COST);
    accounts.push({ ...account, salt: salt.toString('base64'), hash: hash.toString('base64') });
    passwords.push([account.email, password]);
  }
  return { accounts, passwords, keepAccounts: () => writeState(stateFolder, FILE, accounts) };
}

/** Finds the account with this email (in lower case) and password. An unknown email takes as long as a known one. */
export async function findAccount(
  accounts: Account[],
  email: string,
  password: string,
): Promise<Account | undefined> {
  const account = accounts.find((candidate) => candidate.email === email);
  const salt = account ? Buffer.from(account.salt, 'base64') : randomBytes(16);
  const hash = await derive(password, salt, HASH_BYTES, COST);
  const expected = account ? Buffer.from(account.hash, 'base64') : randomBytes(HASH_BYTES);
  return timingSafeEqual(hash, expected) ? account : undefined;
}
