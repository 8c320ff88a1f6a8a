import { useMutation, useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatBytes } from '../../ui/format.ts';
import { JsonView } from '../../ui/json-view.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Row } from '../../ui/page.tsx';
import style from './detail.module.css';
import { downloadValue, fetchBeginning, fetchValue } from './fetch-value.ts';

const BEGINNING_BYTES = 8_000;
const WHOLE_MAX_BYTES = 5_000_000;

/** Shows the beginning of a large value, and loads the rest on request. */
export function LargeValue({ label, bytes, url }: { label: string; bytes: number; url: string }) {
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
