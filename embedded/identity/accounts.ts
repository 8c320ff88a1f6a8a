// Accounts of the embedded identity provider: made on first start, passwords kept as scrypt hashes.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Role } from '../../db/schema.ts';
import { readState, writeState } from '../state-folder.ts';

const FILE = 'identity-accounts.json';
const HASH_BYTES = 32;
const derive = promisify<string, Buffer, number, { N: number; maxmem: number }, Buffer>(scrypt);
/** 32 MiB and about 100 ms for each guess. */
const COST = { N: 2 ** 15, maxmem: 64 * 1024 * 1024 };

/** `id` is the `sub` of its tokens and so the user id everywhere; `role`: in the demo organization. */
export type Account = { id: string; email: string; role: Role; salt: string; hash: string };

const FIRST_ACCOUNTS = (['owner', 'admin', 'member'] as const).map((role) => ({
  id: `dev-${role}`,
  email: `${role}@weir.local`,
  role,
}));

/** The accounts of this folder. `passwords` by email: of those just made, which nobody can be told again. */
export async function provideAccounts(
  stateFolder: string,
): Promise<{ accounts: Account[]; passwords: [email: string, password: string][] }> {
  const existing = readState<Account[]>(stateFolder, FILE);
  if (existing) return { accounts: existing, passwords: [] };
  const accounts: Account[] = [];
  const passwords: [string, string][] = [];
  for (const account of FIRST_ACCOUNTS) {
    const password = randomBytes(12).toString('base64url');
    const salt = randomBytes(16);
    const hash = await derive(password, salt, HASH_BYTES, COST);
    accounts.push({ ...account, salt: salt.toString('base64'), hash: hash.toString('base64') });
    passwords.push([account.email, password]);
  }
  writeState(stateFolder, FILE, accounts);
  return { accounts, passwords };
}

/** The account with this email, in lower case, and password; takes as long for an unknown email as for a known one. */
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
