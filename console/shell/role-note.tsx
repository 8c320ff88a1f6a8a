// Notes that several pages show.
import { Note } from '../ui/note.tsx';
import { hasRole, type MyOrganization } from './me.ts';

type Props = {
  organization: MyOrganization;
  needed: 'admin' | 'owner';
  /** The action after "can", such as `create API keys`. */
  to: string;
};

/** Says why the user cannot do something and who can; nothing for a user who can. */
export function RoleNote({ organization, needed, to }: Props) {
  if (hasRole(organization, needed)) return null;
  const who = needed === 'owner' ? 'owners' : 'owners and admins';
  return (
    <Note>
      You are {organization.role === 'admin' ? 'an admin' : 'a member'} of {organization.name}. Only {who} can{' '}
      {to}: ask one of them, or ask for that role.
    </Note>
  );
}
