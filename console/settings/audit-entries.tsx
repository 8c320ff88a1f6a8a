import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import type { Schemas } from '../api/client.ts';
import { useUserName } from '../shell/use-user-name.ts';
import { Button } from '../ui/button.tsx';
import { Clipped } from '../ui/clipped.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import style from './settings.module.css';

type Props = {
  organizationId: string;
  query: UseInfiniteQueryResult<InfiniteData<Schemas['AuditLog']>, Error>;
  /** Called with an action to filter by. */
  onChoose: (action: string) => void;
};

/** The entries of an audit log. Each opens to show its details and request id. */
export function AuditEntries({ organizationId, query, onChoose }: Props) {
  const nameOfUser = useUserName(organizationId);
  const [opened, setOpened] = useState<string>();
  return (
    <>
      <QueryView query={query}>
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.entries);
          if (entries.length === 0)
            return <EmptyState title="No entries" text="No change matches the filters." />;
          return (
            <Table label="Audit log" head={['When', 'Who', 'Did', 'To', '']}>
              {entries.map((entry) => {
                const key = `${entry.at} ${entry.requestId} ${entry.action} ${entry.resourceId}`;
                const isOpen = key === opened;
                return (
                  <Fragment key={key}>
                    <tr>
                      <td>
                        <Time at={entry.at} />
                      </td>
                      <td title={entry.actor}>
                        <Clipped text={entry.actorName ?? entry.actorEmail ?? entry.actor} />
                      </td>
                      <td>
                        <Button
                          size="small"
                          variant="quiet"
                          aria-label={`Only ${entry.action}`}
                          onPress={() => onChoose(entry.action)}
                        >
                          <code>{entry.action}</code>
                        </Button>
                      </td>
                      <td>
                        <Clipped
                          text={
                            entry.action.startsWith('member.')
                              ? nameOfUser(entry.resourceId)
                              : entry.resourceId
                          }
                        />
                      </td>
                      <td align="right">
                        <Button
                          size="small"
                          aria-expanded={isOpen}
                          onPress={() => setOpened(isOpen ? undefined : key)}
                        >
                          Details
                        </Button>
                      </td>
                    </tr>
                    {isOpen && (
                      <tr>
                        <td colSpan={5}>
                          <div className={style.entry}>
                            <CodeBlock
                              label="the entry"
                              text={JSON.stringify(
                                {
                                  at: entry.at,
                                  actor: entry.actor,
                                  resourceId: entry.resourceId,
                                  requestId: entry.requestId,
                                  details: entry.details,
                                },
                                null,
                                2,
                              )}
                              isWrapped
                            />
                          </div>
                        </td>
                      </tr>
                    )}
                  </Fragment>
                );
              })}
            </Table>
          );
        }}
      </QueryView>
      <MoreButton query={query} />
    </>
  );
}
