import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { QueryView } from '../../ui/feedback.tsx';
import { formatBytes, formatCredits } from '../../ui/format.ts';
import { JsonView } from '../../ui/json/json-view.tsx';
import { Fact, Facts } from '../../ui/page.tsx';
import type { RunPath } from '../run.ts';
import style from './detail.module.css';

/** Shows the input of a run. */
export function RunRequest({ path }: { path: RunPath }) {
  const [isFull, setFull] = useState(false);
  const query = useRunRequest(path, isFull);
  return (
    <section className={style.value}>
      <h2>Started with</h2>
      <QueryView query={query}>
        {(request) => {
          const { message, parameters, block_overrides, tools, bytes, attachments } = request;
          const showAll = () => setFull(true);
          return (
            <>
              <Part name="Message" value={message} bytes={bytes.message} onShow={showAll} isShown />
              <Part
                name="Parameters"
                value={parameters}
                bytes={bytes.parameters}
                onShow={showAll}
                isShown={!parameters || Object.keys(parameters).length > 0}
              />
              <Part
                name="Overrides of blocks"
                value={block_overrides}
                bytes={bytes.block_overrides}
                onShow={showAll}
                isShown={!block_overrides || Object.keys(block_overrides).length > 0}
              />
              <Part
                name="Tools"
                value={tools}
                bytes={bytes.tools}
                onShow={showAll}
                isShown={!tools || tools.length > 0}
              />
              {attachments.length > 0 && (
                <Part name="Images" value={attachments} bytes={0} onShow={showAll} isShown />
              )}
              <Facts>
                {request.maxCredits !== null && (
                  <Fact name="Credits at most">{formatCredits(request.maxCredits)}</Fact>
                )}
                {request.callbackUrl && <Fact name="Webhook to">{request.callbackUrl}</Fact>}
                {request.callbackEvents && (
                  <Fact name="Webhook events">{request.callbackEvents.join(', ')}</Fact>
                )}
                {request.modelKeyProviders.length > 0 && (
                  <Fact name="Own model keys">{request.modelKeyProviders.join(', ')}</Fact>
                )}
              </Facts>
            </>
          );
        }}
      </QueryView>
    </section>
  );
}

type PartProps = { name: string; value: unknown; bytes: number; isShown: boolean; onShow: () => void };

function Part({ name, value, bytes, isShown, onShow }: PartProps): ReactNode {
  if (!isShown || (value === null && bytes <= 4)) return null;
  return (
    <>
      <h3>
        {name} {bytes > 0 && <span className={style.faint}>{formatBytes(bytes)}</span>}
      </h3>
      {value === null ? (
        <div>
          <Button size="small" onPress={onShow}>
            Show all {formatBytes(bytes)}
          </Button>
        </div>
      ) : value === '' ? (
        <p className={style.faint}>It was empty.</p>
      ) : (
        <JsonView value={value} label={name} />
      )}
    </>
  );
}

/** Returns the query for a run's input; `isFull` includes large values. */
export function runRequestQuery(path: RunPath, isFull = false) {
  return {
    queryKey: ['run-request', path, isFull],
    queryFn: async (): Promise<Schemas['RunRequest']> => {
      const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/request', {
        params: { path, query: { full: isFull } },
      });
      return data as Schemas['RunRequest'];
    },
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  };
}

/** Queries a run's input. */
function useRunRequest(path: RunPath, isFull: boolean) {
  return useQuery(runRequestQuery(path, isFull));
}
