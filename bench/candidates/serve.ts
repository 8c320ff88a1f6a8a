import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import Koa from 'koa';

/** Answers `{message}` with `{result}` through Koa, sends its URL to the parent process and ends with it. */
export async function serve(
  run: (message: string) => Promise<string>,
  stop: () => Promise<void> = async () => undefined,
): Promise<void> {
  const app = new Koa();
  app.use(async (ctx) => {
    const { message } = (await json(ctx.req)) as { message: string };
    ctx.body = { result: await run(message) };
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.once('disconnect', async () => {
    server.close();
    await stop();
  });
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
}
