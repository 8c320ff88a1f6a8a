import { useMutation, useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { toApiError, toCutOff } from '../../api/api-error.ts';
import { authorizedFetch } from '../../api/authorized-fetch.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNote, Loading } from '../../ui/feedback.tsx';
import { formatBytes } from '../../ui/format.ts';
import { JsonView } from '../../ui/json/json-view.tsx';
import { Row } from '../../ui/page.tsx';
import { saveFile } from '../../ui/save-file.ts';
import style from './detail.module.css';

const BEGINNING_BYTES = 8_000;
const WHOLE_MAX_BYTES = 5_000_000;

type Props = {
  label: string;
  value: unknown;
  /** The size of the value as JSON, in bytes; 0 when there is no value. */
  bytes: number;
  /** The address of the value alone in the API. */
  url: string;
  /** The text for a missing value. */
  none: string;
};

/** Shows one value of a block execution; a large one by its beginning. */
export function ValueView({ label, value, bytes, url, none }: Props) {
  // The API omits large values; `null` itself has four bytes.
  const isOmitted = value === null && bytes > 4;
  return (
    <section className={style.value}>
      <h3>
        {label} {bytes > 0 && <span className={style.faint}>{formatBytes(bytes)}</span>}
      </h3>
      {bytes === 0 ? (
        <p className={style.faint}>{none}</p>
      ) : isOmitted ? (
        <LargeValue key={url} label={label} bytes={bytes} url={url} />
      ) : (
        <JsonView value={value} label={label} />
      )}
    </section>
  );
}

/** Shows the beginning of a large value, and loads the rest on request. */
function LargeValue({ label, bytes, url }: { label: string; bytes: number; url: string }) {
  const [isWhole, setWhole] = useState(false);
  const value = useQuery({
    queryKey: ['run-value', url, isWhole],
    queryFn: async ({ signal }) =>
      isWhole
        ? { whole: await fetchValue(url, signal) }
        : { beginning: await fetchBeginning(url, BEGINNING_BYTES, signal) },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false,
  });
  const download = useMutation({ mutationFn: () => downloadValue(url, `${label.toLowerCase()}.json`) });
  return (
    <>
      {value.error && <ErrorNote error={value.error} onRetry={() => void value.refetch()} />}
      {value.isPending && <Loading label={`Loading ${isWhole ? 'all' : 'the beginning'} …`} />}
      {value.data?.beginning !== undefined && (
        <CodeBlock text={value.data.beginning} label={`${label}, its beginning`} isWrapped />
      )}
      {value.data && 'whole' in value.data && <JsonView value={value.data.whole} label={label} />}
      <Row>
        {!isWhole && (
          <>
            <span className={style.faint}>
              The first {formatBytes(BEGINNING_BYTES)} of {formatBytes(bytes)}.
            </span>
            {bytes <= WHOLE_MAX_BYTES && (
              <Button size="small" onPress={() => setWhole(true)}>
                Show all
              </Button>
            )}
          </>
        )}
        <Button size="small" isPending={download.isPending} onPress={() => download.mutate()}>
          <Download size={13} aria-hidden /> {download.isPending ? 'Downloading …' : 'Download'}
        </Button>
      </Row>
    </>
  );
}

async function fetchValue(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await ask(url, signal);
  return await response.json().catch(cutOff);
}

/** Fetches the first bytes of a value as text, and cancels the rest. */
async function fetchBeginning(url: string, bytes: number, signal: AbortSignal): Promise<string> {
  const response = await ask(url, signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader && text.length < bytes) {
    const { done, value } = await reader.read().catch(cutOff);
    if (done) break;
    text += value;
  }
  await reader?.cancel().catch(() => undefined);
  return text.slice(0, bytes);
}

async function downloadValue(url: string, name: string): Promise<void> {
  const response = await ask(url);
  saveFile(await response.blob().catch(cutOff), name);
}

function cutOff(error: unknown): never {
  throw toCutOff(error, 'GET');
}

async function ask(url: string, signal?: AbortSignal): Promise<Response> {
  const request = new Request(new URL(url, location.origin), signal ? { signal } : {});
  const response = await authorizedFetch(request);
  if (!response.ok) throw await toApiError(response);
  return response;
}
