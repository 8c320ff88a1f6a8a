import type { Schemas } from '../../api/client.ts';
import { Note } from '../../ui/note.tsx';
import { Fact, Facts } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Elapsed } from '../elapsed.tsx';

/** A block execution that has not ended. */
export function UnderWay({ block }: { block: Schemas['BlockUnderWay'] }) {
  return (
    <>
      <Facts>
        <Fact name="Running for">
          <Elapsed from={block.startedAt} />
        </Fact>
        <Fact name="Attempts">{block.attempts}</Fact>
        {block.nextAttemptAt && (
          <Fact name="Next attempt">
            <Time at={block.nextAttemptAt} />
          </Fact>
        )}
      </Facts>
      {block.errorMessage ? (
        <Note tone="warn">The provider refused the attempt before: {block.errorMessage}</Note>
      ) : (
        <Note>It is running. Its input and output appear here when it has ended.</Note>
      )}
    </>
  );
}
