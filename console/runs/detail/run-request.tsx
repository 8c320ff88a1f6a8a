import { JsonView } from '../../ui/json-view.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { Run, RunPath } from '../run-path.ts';
import { useRunRequest } from '../use-run-request.ts';
import style from './detail.module.css';

/** The message, parameters and whatever else a run was started with. */
export function RunRequest({ path }: { run: Run; path: RunPath }) {
  const query = useRunRequest(path);
  return (
    <section className={style.value}>
      <h2>Started with</h2>
      <QueryView query={query}>
        {({ message, parameters, blockOverrides, attachments, tools }) => (
          <>
            <h3>Message</h3>
            {message === '' ? (
              <p className={style.faint}>It had no message.</p>
            ) : (
              <JsonView value={message} label="Message" />
            )}
            {Object.keys(parameters).length > 0 && (
              <>
                <h3>Parameters</h3>
                <JsonView value={parameters} label="Parameters" />
              </>
            )}
            {blockOverrides && (
              <>
                <h3>Overrides of blocks</h3>
                <JsonView value={blockOverrides} label="Overrides of blocks" />
              </>
            )}
            {attachments && attachments.length > 0 && (
              <>
                <h3>Images</h3>
                <JsonView value={attachments} label="Images" />
              </>
            )}
            {tools && tools.length > 0 && (
              <>
                <h3>Tools</h3>
                <JsonView value={tools} label="Tools" />
              </>
            )}
          </>
        )}
      </QueryView>
    </section>
  );
}
