// main: (d) the three functions in a bare Koa handler
import { forward, passOn, shout } from './functions.ts';
import { serve } from './serve.ts';

await serve(async (message) => passOn(await shout(await forward(message))));
