import { $api } from '../api/client.ts';
import { useMe } from './me.ts';

const MEMBERS_MAX = 200;

/**
 * Names users of an organization: by the name or the address that its members are known by, the reader as `you`, and users
 * who are not members by their id.
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
