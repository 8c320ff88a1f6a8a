import { ApiError } from '../api/api-error.ts';
import { Button } from '../ui/button.tsx';
import { Note } from '../ui/feedback.tsx';
import { Row } from '../ui/page.tsx';

/** Returns the current ETag when a change with `If-Match` failed because of it; undefined for other errors. */
export function findNewerEtag(error: Error | null): string | undefined {
  return error instanceof ApiError && error.status === 412 ? String(error.detail.etag ?? '*') : undefined;
}

type Props = {
  /** The kind of resource, such as `test case`. */
  what: string;
  onLoad: () => void;
  onReplace: () => void;
};

/** Says in a form that somebody else changed the resource meanwhile, and offers to load their version or replace it. */
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
