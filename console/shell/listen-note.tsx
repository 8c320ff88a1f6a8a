import { CodeBlock } from '../ui/code-block.tsx';

const LOOPBACK = /^(localhost|.*\.localhost|127\..*|\[::1\])$/;

/** Says, where the service runs on the reader's machine, how webhooks reach a receiver there. */
export function ListenNote() {
  if (!LOOPBACK.test(location.hostname)) return null;
  return (
    <div>
      <p>
        Your receiver runs on this machine? Start this command: it prints an https address, whose webhooks it
        passes on to your receiver.
      </p>
      <CodeBlock
        text="npx weir listen --forward-to http://localhost:3000/hook"
        label="the command"
        isWrapped
      />
    </div>
  );
}
