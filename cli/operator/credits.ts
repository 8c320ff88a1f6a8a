import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { z } from 'zod';
import type { grantRecord } from '../../api/organizations/credit-schemas.ts';
import { exchange } from '../api/call-api.ts';
import { organizationPath } from '../api/get-resource.ts';
import { AnswerLost } from '../api/to-error.ts';
import { parseIdempotencyKey, parseMaxCredits } from '../commands/run-request.ts';
import { ORG } from '../terminal/parse-argument.ts';
import { type CommandResult, printed } from '../terminal/print.ts';

export function addGrantCommand(program: Command): void {
  program
    .command('credits')
    .description('grant credits to organizations')
    .command('grant')
    .description('add credits to the balance of an organization')
    .argument(...ORG)
    .argument('<credits>', 'how many credits, with at most six decimal places', parseMaxCredits)
    .option(
      '--idempotency-key <key>',
      'a second grant with the same key changes nothing',
      parseIdempotencyKey,
    )
    .addHelpText('after', '\nExample:\n  weir operator credits grant acme 1000 --idempotency-key invoice-17')
    .action(printed(grant));
}

/** Grants credits; a request whose answer is lost is sent once more, with the same key. */
async function grant(
  org: string,
  credits: number,
  { idempotencyKey }: { idempotencyKey?: string },
): Promise<CommandResult> {
  const key = idempotencyKey ?? randomUUID();
  const path = await organizationPath(org, 'credits/grants');
  const send = () =>
    exchange<z.output<typeof grantRecord>>('POST', path, {
      body: { credits },
      headers: { 'idempotency-key': key },
    });
  let isRepeated = false;
  const { headers, body } = await send()
    .catch((error) => {
      if (!(error instanceof AnswerLost)) throw error;
      isRepeated = true;
      return send();
    })
    .catch((error) => {
      if (!(error instanceof AnswerLost)) throw error;
      throw new AnswerLost(`${error.message} With --idempotency-key ${key} it is granted only once.`);
    });
  // The grant that a repeated request finds is most likely this command's own.
  const replayed = !isRepeated && headers.has('idempotent-replayed');
  const what = replayed
    ? `A grant with this key was made before, so nothing changed for ${org}`
    : `${org} has been granted ${credits} credits`;
  return { json: { ...body, replayed }, text: `${what}; its balance is ${body.balance}.` };
}
