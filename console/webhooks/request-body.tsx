import { CodeBlock } from '../ui/code-block.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { formatBytes } from '../ui/format.ts';

const SHOWN_MAX_CHARS = 20_000;

/** The body of a delivery, byte for byte as it is sent and signed. */
export function RequestBody({ body }: { body: string | null }) {
  if (body === null) return <p>There is no body yet: it is made when the delivery is first sent.</p>;
  if (body.length <= SHOWN_MAX_CHARS) return <CodeBlock label="the body" text={body} isWrapped />;
  return (
    <>
      <p>
        The first {formatBytes(SHOWN_MAX_CHARS)} of {formatBytes(new Blob([body]).size)}. Copy all of it:{' '}
        <CopyButton text={body} label="Copy the whole body" />
      </p>
      <CodeBlock label="the beginning of the body" text={body.slice(0, SHOWN_MAX_CHARS)} isWrapped />
    </>
  );
}
