import type { Generated } from 'kysely';
import type { Now } from './now.ts';

/** The name and e-mail address of a user who has acted in an organization, also after leaving it. */
export interface MemberProfileTable {
  organization_id: string;
  user_id: string;
  name: string | null;
  email: string | null;
  email_verified: boolean;
  /** When the token with these claims was issued. */
  told_at: Date;
}

/** An invitation that is neither accepted nor revoked; it may have expired. */
export interface InvitationTable {
  id: Generated<string>;
  organization_id: string;
  /** In lower case. */
  email: string;
  role: 'admin' | 'member';
  /** The user who invited. */
  invited_by: string;
  created_at: Now;
  expires_at: Date;
}
