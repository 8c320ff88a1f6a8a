import { ApiError } from '../api/api-error.ts';
import { Button } from '../ui/button.tsx';
import { Note } from '../ui/note.tsx';
import { Row } from '../ui/page.tsx';

/** The ETag of what stands in the way of a change with `If-Match`; undefined when the error is another. */
export function findNewerEtag(error: Error | null): string | undefined {
  return error instanceof ApiError && error.status === 412 ? String(error.detail.etag ?? '*') : undefined;
}

type Props = {
  /** Such as `test case`. */
  what: string;
  onLoad: () => void;
  onReplace: () => void;
};

/** Says in a form that somebody else has changed it meanwhile, and lets the reader choose. */
export function ChangedMeanwhile({ what, onLoad, onReplace }: Props) {
  return (
    <div role="alert">
      <Note tone="warn">
        <p>
          <strong>This {what} was changed elsewhere while you changed it here.</strong> Nothing has been
          overwritten. Load theirs, which drops what you typed, or replace theirs with yours.
        </p>
        <Row>
          <Button size="small" onPress={onLoad}>
            Load theirs
          </Button>
          <Button size="small" variant="danger" onPress={onReplace}>
            Replace theirs with mine
          </Button>
        </Row>
      </Note>
    </div>
  );
}
