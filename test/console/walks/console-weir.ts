// A Weir with its console, as npm start brings it up: built pages, the embedded identity provider with its accounts, the
// demo models, the demo flow and a run of it; and receivers for its webhooks.
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
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';

const BUILT = path.join(import.meta.dirname, '../../../dist/console');

export type ConsoleWeir = WebhookWeir & {
  identity: IdentityProvider;
  /** A key of the project demo/demo. */
  demoKey: string;
};

/** The caller stops it. */
export async function startConsoleWeir(): Promise<ConsoleWeir> {
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
  const demoKey = await provideDemoData(weir.db, weir.config.apiKeyPepper, undefined, firstMembers(identity));
  const { completed, text } = await send(demoRequest(weir.url, demoKey));
  assert.ok(completed, text);
  return {
    ...weir,
    identity,
    demoKey,
    async stop() {
      await weir.stop();
      await models.close();
      await identity.close();
      rmSync(stateFolder, { recursive: true });
    },
  };
}
