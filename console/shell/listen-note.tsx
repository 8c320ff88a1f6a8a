import { CodeBlock } from '../ui/code-block.tsx';

const LOOPBACK = /^(localhost|.*\.localhost|127\..*|\[::1\])$/;

/** Says how webhooks reach a receiver on this machine, when the service runs there. */
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
