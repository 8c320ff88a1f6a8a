// A Weir that is reached where it says it is, an identity provider beside it, and the official MCP client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { MCP_SCOPES } from '../../../api/auth/scopes.ts';
import type { Role } from '../../../db/schema.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { findFreePort } from '../../../dev/processes/ports.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and assert what they find
export type ToolAnswer = { isError: boolean; text: string; data: any };

export type McpWeir = {
  weir: Weir;
  provider: IdentityProvider;
  /** The URL of the endpoint, with its slash. */
  mcpUrl: string;
  tenant: Tenant;
  /** A token for MCP, with every scope unless others are given. */
  token(userId: string, claims?: Record<string, unknown>): Promise<string>;
  join(userId: string, role?: Role, tenant?: Tenant): Promise<unknown>;
  /** A connected client that signs in with `token`. */
  connect(token: string, options?: { legacy?: boolean; url?: string }): Promise<Client>;
  /** `data` is the structured content. */
  callTool(client: Client, name: string, args: Record<string, unknown>): Promise<ToolAnswer>;
  stop(): Promise<void>;
};

export async function startMcpWeir(
  options: { env?: NodeJS.ProcessEnv; worker?: boolean } = {},
): Promise<McpWeir> {
  const provider = await startIdentityProvider();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const mcpUrl = `${url}/api/v1/mcp/`;
  const weir = await startWeir({
    ...options,
    env: {
      WEIR_PORT: String(port),
      WEIR_PUBLIC_URL: url,
      WEIR_OIDC_ISSUER: provider.issuer,
      ...options.env,
    },
  });
  const tenant = await weir.createTenant();
  return {
    weir,
    provider,
    mcpUrl,
    tenant,
    token: (userId, claims) =>
      provider.token(userId, { aud: mcpUrl, scope: MCP_SCOPES.join(' '), ...claims }),
    join: (userId, role = 'member', { organizationId } = tenant) =>
      insertMember(weir.db, { organizationId, userId, role }),
    async connect(token, { legacy = false, url: at = mcpUrl } = {}) {
      const client = new Client(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode: legacy ? 'legacy' : { pin: '2026-07-28' } } },
      );
      const transport = new StreamableHTTPClientTransport(new URL(at), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      });
      await client.connect(transport);
      return client;
    },
    async callTool(client, name, args) {
      const {
        content,
        structuredContent,
        isError = false,
      } = await client.callTool({ name, arguments: args });
      const [first] = content as { text: string }[];
      return { isError: isError === true, text: first?.text ?? '', data: structuredContent };
    },
    async stop() {
      await weir.stop();
      await provider.close();
    },
  };
}
