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
  const query = useQuery(runRequestQuery(path, isFull));
  return (
    <section className={style.value}>
      <h2>Started with</h2>
      <QueryView query={query}>
        {(request) => {
          const { message, parameters, block_overrides, tools, bytes, attachments } = request;
          const parts: [name: string, value: unknown, bytes: number][] = [
            ['Message', message, bytes.message],
            ['Parameters', parameters, bytes.parameters],
            ['Overrides of blocks', block_overrides, bytes.block_overrides],
            ['Tools', tools, bytes.tools],
            ['Images', attachments, 0],
          ];
          return (
            <>
              {parts.map(([name, value, bytes]) => (
                <Part key={name} name={name} value={value} bytes={bytes} onShow={() => setFull(true)} />
              ))}
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

type PartProps = { name: string; value: unknown; bytes: number; onShow: () => void };

/** A part of the request; nothing when it is absent or an object or list without entries. A large value is null. */
function Part({ name, value, bytes, onShow }: PartProps): ReactNode {
  if (value === null ? bytes <= 4 : typeof value === 'object' && Object.keys(value).length === 0) return null;
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
