// Notes that several pages show.

import { CodeBlock } from '../ui/code-block.tsx';
import { Note } from '../ui/feedback.tsx';
import { hasRole, type MyOrganization } from './me.ts';

const LOOPBACK = /^(localhost|.*\.localhost|127\..*|\[::1\])$/;

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

/** Says how webhooks reach a receiver on this machine, when the service runs there. */
export function ListenNote() {
  if (!LOOPBACK.test(location.hostname)) return null;
  return (
    <div>
      <p>
        Your receiver runs on this machine? Start this command: it prints an https address, whose webhooks it
        passes on to your receiver.
      </p>
      <CodeBlock
        text="npx weir listen --forward-to http://localhost:3000/hook"
        label="the command"
        isWrapped
      />
    </div>
  );
}
