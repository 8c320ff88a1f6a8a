// A Weir with its console, as npm start brings it up: built pages, the embedded identity provider with its accounts, the
// demo models, the demo flow and a run of it; and receivers for its webhooks. All walks of a mocha process share it. Each
// file has an organization `demo` of its own, which is deleted when the file ends.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MANAGEMENT_SCOPE } from '../../../api/auth/scopes.ts';
import { buildConsole } from '../../../console/build/build-console.ts';
import { isDisconnected } from '../../../db/tenants/connected-assistants.ts';
import { provideDemoData } from '../../../dev/database/demo-data.ts';
import { startDemoModelServer } from '../../../dev/demo-model/server.ts';
import { demoRequest, send } from '../../../dev/demo-request.ts';
import { CONSOLE_CLIENT_ID } from '../../../dev/identity/client-ids.ts';
import { type IdentityProvider, startIdentityProvider } from '../../../dev/identity/identity-provider.ts';
import { firstMembers } from '../../../dev/identity/provide-identity.ts';
import { findFreePort } from '../../../dev/processes/ports.ts';
import { atEndOfRun } from '../../hooks.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';

const BUILT = path.join(import.meta.dirname, '../../../dist/console');

type SharedWeir = WebhookWeir & { identity: IdentityProvider };

export type ConsoleWeir = SharedWeir & {
  organizationId: string;
  /** The project demo/demo. */
  projectId: string;
  /** A key of the project demo/demo. */
  demoKey: string;
  /** Its flow `hello`. */
  helloId: string;
};

let started: Promise<SharedWeir> | undefined;

/** Creates the organization `demo` on the shared Weir. The caller stops it; then another can be created. */
export async function startConsoleWeir(): Promise<ConsoleWeir> {
  started ??= start();
  const weir = await started;
  const members = firstMembers(weir.identity);
  const demoKey = await provideDemoData(weir.db, weir.config.apiKeyPepper, undefined, members);
  const ids = await weir.db
    .selectFrom('organization')
    .innerJoin('project', 'project.organization_id', 'organization.id')
    .innerJoin('flow', 'flow.project_id', 'project.id')
    .select(['organization.id as organizationId', 'project.id as projectId', 'flow.id as helloId'])
    .where('organization.deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  const { completed, text } = await send(demoRequest(weir.url, demoKey));
  assert.ok(completed, text);
  return {
    ...weir,
    ...ids,
    demoKey,
    async stop() {
      await weir.db
        .updateTable('organization')
        .set({ deleted_at: new Date() })
        .where('deleted_at', 'is', null)
        .execute();
    },
  };
}

async function start(): Promise<SharedWeir> {
  await buildConsole(BUILT);
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-console-'));
  const port = await findFreePort();
  const base = `http://127.0.0.1:${port}`;
  const audiences = { audience: `${base}/api/v1`, mcpAudience: `${base}/api/v1/mcp/` };
  const identity = await startIdentityProvider({
    stateFolder,
    audiences,
    consoleUrls: [base],
    isDisconnected: (consent) => isDisconnected(weir.db, consent),
  });
  const models = await startDemoModelServer();
  const weir: WebhookWeir = await startWebhookWeir({
    env: {
      WEIR_PORT: String(port),
      WEIR_OIDC_ISSUER: identity.issuer,
      WEIR_OIDC_AUDIENCE: audiences.audience,
      WEIR_MCP_AUDIENCE: audiences.mcpAudience,
      WEIR_CONSOLE_CLIENT_ID: CONSOLE_CLIENT_ID,
      WEIR_CONSOLE_SCOPES: `openid ${MANAGEMENT_SCOPE}`,
      WEIR_TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
      WEIR_STARTING_CREDITS: '100',
      DEMO_BASE_URL: models.url,
    },
  });
  atEndOfRun(async () => {
    await weir.stop();
    await models.close();
    await identity.close();
  });
  const folders = [stateFolder, path.dirname(weir.env.WEIR_WEBHOOK_CA_FILE ?? assert.fail())];
  process.on('exit', () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  return { ...weir, identity };
}
