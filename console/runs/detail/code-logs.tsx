import { Fragment } from 'react';
import type { Schemas } from '../../api/client.ts';
import { CopyButton } from '../../ui/code-block.tsx';
import { formatCount } from '../../ui/format.ts';
import style from './code-logs.module.css';

/** The lines that the code of a block wrote with `console`. */
export function CodeLogs({ logs }: { logs: Schemas['CodeLog'][] }) {
  const text = () => logs.map((line) => `${line.level}: ${line.text}`).join('\n');
  return (
    <div className={style.box}>
      <section aria-label="Console">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
        <ol className={style.lines} tabIndex={0}>
          {logs.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines do not move
            <Fragment key={index}>
              {line.omittedBefore !== undefined && (
                <li className={style.gap}>{formatCount(line.omittedBefore)} lines are not kept</li>
              )}
              <li data-level={line.level}>
                <span className={style.level}>{line.level}</span>
                <span className={style.text} dir="auto">
                  {line.text}
                </span>
              </li>
            </Fragment>
          ))}
        </ol>
      </section>
      <span className={style.copy}>
        <CopyButton text={text} label="Copy the console lines" />
      </span>
    </div>
  );
}
