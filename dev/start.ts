// main of `npm start`: starts unconfigured dependencies (PostgreSQL, Temporal, identity provider, demo models), then the
// service, and runs a demo flow. The folders here have one part each; their state is in the state folder (`.weir/`).
import {
  describeUnknown,
  isServiceVariable,
  readConfig,
  readEnvironment,
} from '../platform/config/config.ts';
import { endOnFatal } from '../platform/process/end-process.ts';
import { refuseArguments } from '../platform/process/read-process-config.ts';
import { restartCompiled } from '../platform/process/restart-compiled.ts';
import { type Backend, provideDatabase, provideTemporal } from './backends.ts';
import { buildConsole } from './build-console.ts';
import { bypassProxy } from './bypass-proxy.ts';
import { startPreparer } from './database/prepare-database.ts';
import { startDemoModelServer } from './demo-model/server.ts';
import { curlLine, demoRequest, send } from './demo-request.ts';
import type { IdentityProvider } from './identity/identity-provider.ts';
import {
  describeConsole,
  describePasswords,
  firstMembers,
  provideIdentity,
} from './identity/provide-identity.ts';
import { endRecordedProcesses } from './processes/end-process.ts';
import { chooseApiPort } from './processes/ports.ts';
import { takeStartLock } from './processes/process-lock.ts';
import { restartOnExit } from './processes/restart-on-exit.ts';
import { createShutdown, type Shutdown } from './processes/shutdown.ts';
import { startWatchdog } from './processes/watchdog.ts';
import { createProgress } from './progress.ts';
import { startService } from './service.ts';
import {
  LOCAL_ENVIRONMENT,
  type LocalEnvironment,
  openStateFolder,
  provideSecrets,
  readState,
  writeState,
} from './state-folder.ts';

const BACKEND_RESTARTS_MAX = 5;

restartCompiled();
// Files written from here on, also by the servers, are readable by this user only.
process.umask(0o077);
bypassProxy(process.env);
const progress = createProgress();
// `npm start | head` must not take the service down when its reader goes away.
process.stdout.on('error', () => undefined);
let shutdown: Shutdown | undefined;
try {
  refuseArguments();
  const stateFolder = openStateFolder();
  const lock = takeStartLock(stateFolder);
  const { signal, end } = createShutdown(stateFolder, progress, lock.release);
  shutdown = { signal, end };
  endOnFatal(() => end(1));
  const failure = await start(stateFolder, lock.setUrl, signal);
  if (failure) throw new Error(failure);
} catch (error) {
  // Errors after the shutdown has begun are consequences of it.
  if (!shutdown?.signal.aborted) {
    process.stderr.write(`\n${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
    await shutdown?.end(1);
  }
}

/** Starts everything and watches it. Resolves at shutdown, or with a message when a process cannot be kept running. */
async function start(
  stateFolder: string,
  announce: (url: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const secrets = provideSecrets(stateFolder);
  const given = readEnvironment(process.env);
  // The whole configuration is checked before anything starts; the database URL is not known yet.
  const config = readConfig({
    DATABASE_URL: 'postgres://not-started-yet',
    WEIR_API_KEY_PEPPER: secrets.apiKeyPepper,
    WEIR_SECRETS_KEYS: secrets.secretsKeys,
    ...given,
  });
  progress.line('Weir is starting; Ctrl-C stops it.');
  for (const unknown of describeUnknown(given)) progress.line(`  ! ${unknown}`);
  await endLeftovers(stateFolder);
  startWatchdog(stateFolder);

  const ports = readState<Record<string, number>>(stateFolder, 'ports.json') ?? {};
  const port = await chooseApiPort(config.host, given.WEIR_PORT, ports.api, (line) => progress.line(line));
  const context = { stateFolder, ports, progress };
  const prepareDatabase = startPreparer();
  const consoleBuilt = buildConsole(stateFolder, progress, signal);
  const [database, temporal] = await Promise.all([
    provideDatabase(context, secrets.postgresPassword, config.databaseConnections, given.DATABASE_URL),
    provideTemporal(context, config.temporal),
  ]);
  const baseUrl = `http://${addressFor(config.host)}:${port}`;
  const databaseUrl = database.env.DATABASE_URL ?? config.databaseUrl;
  const identity = await provideIdentity({
    config,
    stateFolder,
    port: ports.identity,
    databaseUrl,
    baseUrl,
    progress,
  });
  const demoModels = config.providers.demo ? undefined : await startDemoModelServer();
  const env: NodeJS.ProcessEnv = {
    WEIR_SECRETS_KEYS: secrets.secretsKeys,
    ...(!config.production && {
      WEIR_WEBHOOK_LISTENERS: 'on',
      WEIR_STARTING_CREDITS: '100',
      WEIR_OPERATORS: firstMembers(identity.own)
        .filter(({ role }) => role === 'owner')
        .map(({ userId }) => userId)
        .join(','),
    }),
    ...(temporal.uiUrl && { WEIR_TEMPORAL_UI_URL: temporal.uiUrl }),
    ...given,
    ...database.env,
    ...temporal.env,
    ...identity.env,
    WEIR_API_KEY_PEPPER: config.apiKeyPepper,
    WEIR_PORT: String(port),
    ...(demoModels && { DEMO_BASE_URL: demoModels.url }),
  };
  writeState(stateFolder, 'ports.json', {
    ...ports,
    ...database.ports,
    ...temporal.ports,
    ...(identity.own && { identity: identity.own.port }),
    api: port,
  });
  const local = {
    DATABASE_URL: databaseUrl,
    WEIR_API_KEY_PEPPER: config.apiKeyPepper,
    WEIR_SECRETS_KEYS: env.WEIR_SECRETS_KEYS ?? secrets.secretsKeys,
    WEIR_URL: baseUrl,
    ...(demoModels && { DEMO_BASE_URL: demoModels.url }),
    temporal: temporal.env,
    given: Object.keys(given).filter(isServiceVariable),
    ...identity.local,
  };
  const apiKey = await prepareDatabase(
    {
      databaseUrl,
      ownServer: database.local !== undefined,
      apiKeyPepper: config.apiKeyPepper,
      knownKey: readState<LocalEnvironment>(stateFolder, LOCAL_ENVIRONMENT)?.WEIR_API_KEY,
      members: firstMembers(identity.own),
    },
    progress,
  );
  writeState(stateFolder, LOCAL_ENVIRONMENT, { ...local, WEIR_API_KEY: apiKey } satisfies LocalEnvironment);

  const task = progress.begin('Service');
  const startOnce = () => startService({ stateFolder, env, baseUrl });
  const service = await startOnce();
  task.done(baseUrl);
  announce(baseUrl);
  await consoleBuilt;
  await runDemo(baseUrl, apiKey, temporal, identity.own);
  for (const line of describePasswords(identity.own)) progress.line(line);
  identity.own?.keepAccounts();
  progress.line(`\nCtrl-C stops everything. Data and logs are in ${stateFolder}`);

  const watch = { report: (line: string) => progress.line(`  ! ${line}`), signal };
  return Promise.race([
    restartOnExit({ ...watch, name: 'The service', child: service, start: startOnce, maxRestarts: Infinity }),
    ...keepBackend('PostgreSQL', database),
    ...keepBackend('Temporal', temporal),
  ]);

  function keepBackend(name: string, { local }: Backend): Promise<string | undefined>[] {
    if (!local) return [];
    return [
      restartOnExit({
        ...watch,
        name,
        child: local.child,
        start: local.restart,
        maxRestarts: BACKEND_RESTARTS_MAX,
      }),
    ];
  }
}

async function endLeftovers(stateFolder: string): Promise<void> {
  const task = progress.begin('Clean-up');
  task.say('waiting for processes of an earlier start to end');
  const ended = await endRecordedProcesses(stateFolder);
  if (ended.length > 0) task.done(`ended processes of an earlier start: ${ended.join(', ')}`);
  task.drop();
}

/** Runs the demo flow over HTTP, as the printed curl line does, and prints where everything is. */
async function runDemo(
  baseUrl: string,
  apiKey: string,
  temporal: Backend,
  own: IdentityProvider | undefined,
): Promise<void> {
  const task = progress.begin('Demo flow');
  const request = demoRequest(baseUrl, apiKey);
  const { completed, text } = await send(request);
  task.done(completed ? 'completed' : 'did not complete; see below');
  progress.line(`
Weir is ready.

  Console         ${describeConsole(own, baseUrl)}
  API             ${baseUrl}
  API reference   ${baseUrl}/reference
  MCP             ${baseUrl}/api/v1/mcp/
  Temporal UI     ${temporal.uiUrl ?? 'see the configured server'}
  Demo API key    ${apiKey}

Run the demo flow:

${curlLine(request)}

${completed ? 'It has just run and answered' : 'It was just tried, and this was the answer'} (without "blocks"):

${text}`);
}

/** Returns the address at which a client on this machine reaches a server that listens on `host`. */
function addressFor(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
