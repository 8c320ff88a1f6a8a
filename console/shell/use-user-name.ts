import { $api } from '../api/client.ts';
import { useMe } from './me.ts';

const MEMBERS_MAX = 200;

/**
 * Returns a function that names a user of an organization: `you`, the member's name or e-mail address, or the id of a
 * user who is not a member.
 */
export function useUserName(organizationId: string): (userId: string) => string {
  const me = useMe();
  const { data, isPending } = $api.useQuery('get', '/api/v1/organizations/{org_id}/members', {
    params: { path: { org_id: organizationId }, query: { limit: MEMBERS_MAX } },
  });
  return (userId) => {
    if (userId === me.userId) return 'you';
    const member = data?.members.find(({ user_id }) => user_id === userId);
    return member?.name ?? member?.email ?? (isPending ? '…' : userId);
  };
}
