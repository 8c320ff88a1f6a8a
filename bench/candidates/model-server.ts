// main: the demo model server
import { startDemoModelServer } from '../../dev/demo-model/server.ts';

const server = await startDemoModelServer();
process.once('disconnect', () => server.close());
process.send?.({ url: server.url });
