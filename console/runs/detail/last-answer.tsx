import type { Schemas } from '../../api/client.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { formatTokens } from '../../ui/format.ts';
import style from './detail.module.css';

/** Shows what the model answered last to a block that failed. */
export function LastAnswerView({ answer }: { answer: Schemas['LastAnswer'] }) {
  const { text, isCut, finishReason, usage, repairRequest } = answer;
  return (
    <section className={style.value}>
      <h3>Last answer of the model</h3>
      <p className={style.faint}>
        {finishReason && `Finish reason ${finishReason}, `}
        Tokens: {formatTokens(usage)}
        {isCut && ', the beginning of it'}
      </p>
      {text === '' ? (
        <p className={style.faint}>It is empty.</p>
      ) : (
        <CodeBlock text={text} label="Last answer" />
      )}
      {repairRequest !== null && (
        <>
          <h3>Request to repair it</h3>
          <CodeBlock text={repairRequest} label="Request to repair it" />
        </>
      )}
    </section>
  );
}
