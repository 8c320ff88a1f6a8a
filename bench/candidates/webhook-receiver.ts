// main: a webhook receiver that answers 204
import { startWebhookReceiver, testAuthority } from '../../test/fakes/webhook-receiver.ts';

const receiver = await startWebhookReceiver();
process.once('disconnect', () => receiver.close());
process.send?.({ host: receiver.host, address: `127.0.0.1:${receiver.port}`, ca: testAuthority().pem });
