// `weir listen`: receives webhooks on this machine.
import { type Command, Option } from 'commander';
import { parseHttpAddress } from '../terminal/parse-argument.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { forwardDeliveries } from './forward-deliveries.ts';
import { addReceiveOptions, type ReceiveOptions, receiveWebhooks } from './receive-webhooks.ts';

export function addListenCommand(program: Command): void {
  const listen = program
    .command('listen')
    .description('receive webhooks on this machine: forward them to your receiver, or verify and print them')
    .addOption(
      new Option(
        '--forward-to <url>',
        'post the deliveries of a local service to this http address; the service needs no restart',
      )
        .argParser(parseHttpAddress)
        .conflicts(['port', 'http']),
    )
    .addOption(
      new Option('--secret <secret>', 'verify with this signing secret and print').env('WEIR_WEBHOOK_SECRET'),
    );
  addReceiveOptions(listen)
    .addHelpText('after', '\nExample:\n  weir listen --forward-to http://localhost:3000/hook')
    .action(receive);
}

type ListenOptions = ReceiveOptions & { forwardTo?: URL; secret?: string };

async function receive({ forwardTo, secret, ...options }: ListenOptions, command: Command): Promise<void> {
  if (forwardTo) {
    // The variable may be set for the receiver.
    if (command.getOptionValueSource('secret') === 'cli')
      throw new UsageError('With --forward-to, give no --secret: your receiver verifies.');
    return forwardDeliveries(forwardTo, options.json === true);
  }
  if (secret === undefined) throw new UsageError('Give --forward-to, --secret or WEIR_WEBHOOK_SECRET.');
  return receiveWebhooks(async () => secret, options);
}
