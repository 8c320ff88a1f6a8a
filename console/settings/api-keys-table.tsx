import type { Schemas } from '../api/client.ts';
import { useUserName } from '../shell/use-user-name.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Clipped } from '../ui/clipped.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

type ApiKey = Schemas['ApiKey'];

const STATES = {
  active: { tone: 'good', label: 'Active' },
  expired: { tone: 'warn', label: 'Expired' },
  revoked: { tone: 'idle', label: 'Revoked' },
} as const;

type Props = { organizationId: string; keys: ApiKey[]; onRevoke: (key: ApiKey) => void };

/** The table of API keys: state, scopes, last use. */
export function ApiKeysTable({ organizationId, keys, onRevoke }: Props) {
  const nameOfUser = useUserName(organizationId);
  return (
    <Table label="API keys" head={['Name', 'State', 'Environment', 'Scopes', 'Last used', 'Created', '']}>
      {keys.map((key) => (
        <tr key={key.keyId}>
          <td>
            <Clipped text={key.name} />
            <code>
              weir_{key.environment}_{key.keyId}…
            </code>
          </td>
          <td>
            <Badge tone={STATES[key.state].tone}>{STATES[key.state].label}</Badge>
            {key.state === 'active' && key.expiresAt && (
              <div>
                until <Time at={key.expiresAt} />
              </div>
            )}
          </td>
          <td>{key.environment}</td>
          <td>{key.scopes.join(', ')}</td>
          <td>{key.lastUsedAt ? <Time at={key.lastUsedAt} /> : 'Never'}</td>
          <td>
            <Time at={key.createdAt} />
            <Clipped text={`by ${key.createdBy === null ? 'the operator' : nameOfUser(key.createdBy)}`} />
          </td>
          <td align="right">
            {key.state !== 'revoked' && (
              <Button
                size="small"
                variant="danger"
                aria-label={`Revoke ${key.name}`}
                onPress={() => onRevoke(key)}
              >
                Revoke
              </Button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
