import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client.ts';
import { PAGES } from '../api/pages.ts';
import { refetch } from '../api/query-client.ts';
import { Button } from '../ui/button.tsx';
import { Clipped } from '../ui/clipped.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

type Assistant = Schemas['Assistant'];

/** Lists the assistants that use MCP for the user, and says how to connect one. */
export function AssistantsPanel() {
  const [toDisconnect, setToDisconnect] = useState<Assistant>();
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/assistants',
    { params: { query: { limit: 50 } } },
    PAGES,
  );
  return (
    <Panel title="Connected assistants" isFlush={hasSome(query.data?.pages)}>
      <QueryView query={query}>
        {({ pages }) =>
          hasSome(pages) ? (
            <Table label="Connected assistants" head={['Assistant', 'May', 'Since', 'Last used', '']}>
              {pages
                .flatMap((page) => page.assistants)
                .map((assistant) => (
                  <tr key={assistant.id}>
                    <td>
                      <Clipped text={nameOf(assistant)} />
                    </td>
                    <td>{assistant.scopes.join(', ')}</td>
                    <td>
                      <Time at={assistant.firstUsedAt} />
                    </td>
                    <td>
                      <Time at={assistant.lastUsedAt} />
                    </td>
                    <td align="right">
                      <Button
                        size="small"
                        variant="danger"
                        aria-label={`Disconnect ${nameOf(assistant)}`}
                        onPress={() => setToDisconnect(assistant)}
                      >
                        Disconnect
                      </Button>
                    </td>
                  </tr>
                ))}
            </Table>
          ) : (
            <>
              <p>
                None yet. An assistant that speaks MCP designs, tests and publishes flows for you. Give it
                this endpoint; it asks you to sign in and to consent.
              </p>
              <CodeBlock label="the endpoint" text={`${location.origin}/api/v1/mcp/`} />
            </>
          )
        }
      </QueryView>
      <MoreButton query={query} />
      {toDisconnect && (
        <ConfirmDialog
          title={`Disconnect ${nameOf(toDisconnect)}?`}
          action="Disconnect"
          isOpen
          onClose={() => setToDisconnect(undefined)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/assistants/{assistant_id}', {
              params: { path: { assistant_id: toDisconnect.id } },
            });
            await refetch('/api/v1/assistants');
          }}
        >
          It can do nothing for you any more, until you sign in with it and consent again.
        </ConfirmDialog>
      )}
    </Panel>
  );
}

function hasSome(pages: Schemas['AssistantList'][] | undefined): boolean {
  return pages?.some(({ assistants }) => assistants.length > 0) ?? false;
}

function nameOf({ name, clientId }: Assistant): string {
  return name ?? clientId ?? 'Unnamed assistant';
}
