import { Note } from '../ui/note.tsx';
import { hasRole, type MyOrganization } from './me.ts';

type Props = {
  organization: MyOrganization;
  needed: 'admin' | 'owner';
  /** The action that needs the role, after "to": `create API keys`. */
  to: string;
};

/** Says why the user cannot do something here and who can; nothing for a user who can. */
export function RoleNote({ organization, needed, to }: Props) {
  if (hasRole(organization, needed)) return null;
  const who = needed === 'owner' ? 'an owner' : 'an owner or admin';
  return (
    <Note>
      You are {organization.role === 'admin' ? 'an admin' : 'a member'} of {organization.name}. Ask {who} to{' '}
      {to}, or to change your role.
    </Note>
  );
}
