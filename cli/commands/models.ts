import type { Command } from 'commander';
import type { z } from 'zod';
import type { modelList } from '../../api/organizations/models.ts';
import { listAll } from '../api/call-api.ts';
import { getOrganization } from '../api/get-resource.ts';
import { ORG } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, printed } from '../terminal/print.ts';

export function addModelsCommand(program: Command): void {
  program
    .command('models')
    .description(
      'list the models that blocks can use; demo/* stands for any other model of the provider demo',
    )
    .argument(...ORG)
    .addHelpText(
      'after',
      '\nKEY says whose key pays: the service’s, your organization’s, or - for none.\n' +
        'Prices are credits per million tokens; only keys of the service cost any.\n\nExample:\n  weir models acme',
    )
    .action(printed(list));
}

type Model = z.output<typeof modelList>['models'][number];

/** Lists what changes the prices of a model: `over 200000: 400/1800, batch ×0.5`, with those of input and output. */
function formatOtherPrices({ longContextPrices, imagePrice, reportedCost, tiers }: Model): string {
  return [
    ...(reportedCost ? ['as the provider reports'] : []),
    ...(imagePrice > 0 ? [`image ${imagePrice}`] : []),
    ...longContextPrices.map((long) => `over ${long.aboveTokens}: ${long.inputPrice}/${long.outputPrice}`),
    ...Object.entries(tiers).map(([tier, factor]) => `${tier} ×${factor}`),
  ].join(', ');
}

async function list(org: string): Promise<CommandResult> {
  const query = { organization_id: (await getOrganization(org)).id };
  const models = await listAll<Model>('/api/v1/models', 'models', {
    query,
  });
  return {
    json: models,
    text: formatTable(
      [
        'model',
        'key',
        'input credits/M tokens',
        'output credits/M tokens',
        'cached',
        'cache writes',
        'for an hour',
        'else',
        'context',
        'can',
      ],
      models.map((model) => [
        model.model,
        model.key,
        model.inputPrice,
        model.outputPrice,
        model.cachedInputPrice,
        model.cacheWritePrice,
        model.cacheWriteHourPrice,
        formatOtherPrices(model),
        model.contextTokens,
        (['images', 'tools', 'jsonSchema'] as const).filter((ability) => model[ability]).join(' '),
      ]),
      'The service has no models.',
    ),
  };
}
