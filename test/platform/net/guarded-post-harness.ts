// A receiver of webhooks, and guarded POSTs to it.
import { createGuardedPost, NoAnswer } from '../../../platform/net/guarded-post.ts';
import { createResolvePublic } from '../../../platform/net/resolve-public.ts';
import * as receiver from '../../fakes/webhook-receiver.ts';

type Options = {
  ca?: string | undefined;
  proxy?: URL;
  port?: number;
  connectTimeoutMs?: number;
  totalTimeoutMs?: number;
};

/** Starts a receiver for the tests of a suite; `postTo` sends to a host name that leads to it. */
export function useGuardedPost() {
  let hooks: receiver.WebhookReceiver;
  before(async () => {
    hooks = await receiver.startWebhookReceiver();
  });
  after(() => hooks.close());
  return {
    get hooks() {
      return hooks;
    },
    postTo(host: string, { ca = receiver.testAuthority().pem, port = hooks.port, ...options }: Options = {}) {
      const resolvePublic = createResolvePublic({ dialMap: { [host]: `127.0.0.1:${port}` } });
      const post = createGuardedPost({ resolvePublic, ca, ...options });
      return post(new URL(`https://${host}/path?query=1`), { 'x-test': 'yes' }, Buffer.from('{"a":1}'));
    },
  };
}

/** Whether an error is a NoAnswer whose message matches. */
export function noAnswer(pattern: RegExp) {
  return (error: unknown) => error instanceof NoAnswer && pattern.test(error.message);
}
