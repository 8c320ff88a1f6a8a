import { $api } from '../../api/client.ts';
import { Attempts } from '../../runs/detail/attempts.tsx';
import { CodeLogs } from '../../runs/detail/code-logs.tsx';
import { LastAnswerView } from '../../runs/detail/last-answer.tsx';
import { QueryView } from '../../ui/feedback.tsx';
import { formatBytes, formatTokens } from '../../ui/format.ts';
import { JsonView } from '../../ui/json/json-view.tsx';
import { useFlow } from '../flow-context.ts';
import style from './try-panel.module.css';

/** The input, request and output of one block. Values over 16 KiB are only on the page of the run. */
export function BlockValues({ executionId, blockKey }: { executionId: string; blockKey: string }) {
  const { flow, org, project } = useFlow();
  const query = $api.useQuery(
    'get',
    '/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/blocks/{key}',
    { params: { path: { org, project, flow: flow.slug, executionId, key: blockKey } } },
    { staleTime: 0 },
  );
  return (
    <div className={style.values}>
      <QueryView query={query}>
        {(block) => (
          <>
            {block.failedAttempts && (
              <div>
                <h3>Attempts</h3>
                <Attempts block={block} />
              </div>
            )}
            <Value label="Input" value={block.input} bytes={block.inputBytes} />
            <Value label="Output" value={block.output} bytes={block.outputBytes} />
            {block.model && <p className={style.faint}>Tokens: {formatTokens(block.usage)}</p>}
            {block.lastAnswer && <LastAnswerView answer={block.lastAnswer} />}
            {block.logs && (
              <div>
                <h3>Console</h3>
                <CodeLogs logs={block.logs} />
              </div>
            )}
            <Value
              label={block.processor_type === 'code' ? 'Code' : 'Sent'}
              value={block.sent}
              bytes={block.sentBytes}
            />
          </>
        )}
      </QueryView>
    </div>
  );
}

function Value({ label, value, bytes }: { label: string; value: unknown; bytes: number }) {
  if (bytes === 0) return null;
  const isOmitted = value === null && bytes > 'null'.length;
  return (
    <div>
      <h3>{label}</h3>
      {isOmitted ? (
        <p className={style.faint}>{formatBytes(bytes)}: open the run to read it.</p>
      ) : (
        <JsonView value={value} label={label} />
      )}
    </div>
  );
}
