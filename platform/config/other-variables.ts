// The variables that the service does not read by its own schemas: those of Temporal, OpenTelemetry and model providers, of
// `npm start` and of the `weir` command. docs/reference.md is generated from them and from variables.ts.

import { API_KINDS, PRESETS } from './provider-presets.ts';

type OtherVariable = {
  names: readonly string[];
  program: string;
  byDefault?: string;
  description: string;
};

/** Names a variable of every provider. */
function withEnd(end: string): string[] {
  return Object.keys(PRESETS).map((prefix) => `${prefix.toUpperCase()}_${end}`);
}

export const OTHER_VARIABLES: readonly OtherVariable[] = [
  {
    names: ['PGPASSWORD'],
    program: 'all',
    description: 'Password of the database where `DATABASE_URL` has none.',
  },
  {
    names: [
      'TEMPORAL_ADDRESS',
      'TEMPORAL_NAMESPACE',
      'TEMPORAL_API_KEY',
      'TEMPORAL_TLS…',
      'TEMPORAL_PROFILE',
      'TEMPORAL_CONFIG_FILE',
    ],
    program: 'API, worker',
    byDefault: '`localhost:7233`, namespace `default`; `npm start`: its own server in `.weir/`',
    description:
      "Temporal's [standard client configuration](https://docs.temporal.io/develop/environment-configuration).",
  },
  {
    names: ['OTEL_…'],
    program: 'API, worker',
    description:
      "OpenTelemetry's standard variables. Without an exporter there are no traces and no pushed metrics.",
  },
  {
    names: withEnd('API_KEY'),
    program: 'API, worker',
    description:
      'Keys of the [model providers](own-model.md), by model prefix. A provider is on when its key or its base URL is set.',
  },
  {
    names: withEnd('BASE_URL'),
    program: 'API, worker',
    byDefault: 'that of each provider; `npm start`: its demo server for `DEMO_BASE_URL`',
    description: 'Address of the API. Its query string goes with every request.',
  },
  {
    names: withEnd('API'),
    program: 'API, worker',
    byDefault: '`openai-chat`; `anthropic` for Anthropic',
    description: `The API that the address speaks: ${API_KINDS.map((kind) => `\`${kind}\``).join(', ')}.`,
  },
  {
    names: ['AZURE_RESOURCE'],
    program: 'API, worker',
    description: 'Name of the Azure OpenAI resource, instead of `AZURE_BASE_URL`.',
  },
  {
    names: ['WEIR_EMBEDDED_IDENTITY_PROVIDER'],
    program: '`npm start`',
    description: '`on` allows the embedded identity provider with `NODE_ENV=production`.',
  },
  {
    names: ['WEIR_STATE_DIR'],
    program: '`npm start`, `weir`',
    byDefault: '`.weir` in the checkout',
    description: 'State of `npm start`, which the `weir` command reads too.',
  },
  {
    names: ['WEIR_TEMPORAL_CLI'],
    program: '`npm start`',
    byDefault: '`temporal` on the PATH, the cache, a download, a build',
    description: 'Temporal binary of `npm start`.',
  },
  {
    names: ['XDG_CACHE_HOME'],
    program: '`npm start`',
    byDefault: '`~/.cache`',
    description: 'Cache of `npm start`, in its folder `weir`.',
  },
  {
    names: ['NODE_COMPILE_CACHE'],
    program: 'all',
    byDefault: '`node_modules/.cache/node` in npm scripts',
    description: 'Compiled code, for faster starts. Without write access, processes work without it.',
  },
  {
    names: ['WEIR_BUILD'],
    program: 'all',
    byDefault: 'none; the released image: its commit',
    description:
      'Name of the build, for [health](operating/shutdown-and-health.md), metrics and `weir doctor`.',
  },
  {
    names: ['NODE_EXTRA_CA_CERTS'],
    program: 'all',
    description:
      'PEM file of a further certificate authority for everything but Temporal. Set it for the migration too.',
  },
  {
    names: ['WEIR_URL', 'WEIR_API_KEY'],
    program: '`weir`',
    byDefault: 'those of `weir login`, then of the local `npm start`',
    description: 'Service that the `weir` command calls, and the key for it.',
  },
  {
    names: ['WEIR_TOKEN'],
    program: '`weir`',
    description: 'A JWT that the `weir` command sends instead of a key.',
  },
  {
    names: ['WEIR_OPERATOR_KEY'],
    program: '`weir`',
    description: "An [operator's](identity-and-access.md#operators) key, sent before all others.",
  },
  {
    names: ['WEIR_PROJECT'],
    program: '`weir`',
    description: 'Project, as `org/project`, of flow files for which `--project` names none.',
  },
  {
    names: ['WEIR_WEBHOOK_SECRET'],
    program: '`weir`',
    description: 'Secret with which `weir listen` verifies, instead of that of an organization.',
  },
  {
    names: ['XDG_CONFIG_HOME'],
    program: '`weir`',
    byDefault: '`~/.config`',
    description: 'Where `weir login` keeps sessions, in `weir/sessions.json`.',
  },
  {
    names: ['XDG_STATE_HOME'],
    program: '`weir`',
    byDefault: '`~/.local/state`',
    description: 'Where `weir flow push` and `pull` remember drafts, in `weir/drafts`.',
  },
  {
    names: ['BROWSER'],
    program: '`weir`',
    byDefault: '`open` on macOS, `xdg-open` where there is a display',
    description: 'Program with which `weir login` opens a page.',
  },
];
