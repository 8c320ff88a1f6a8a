// The demo request, which a start both sends and prints as a `curl` line.
import { askService } from './service.ts';

type DemoRequest = { url: string; headers: Record<string, string>; body: string };

const TIMEOUT_MS = 60_000;

/** Builds the request that runs the demo flow. */
export function demoRequest(baseUrl: string, apiKey: string): DemoRequest {
  return {
    url: `${baseUrl}/api/v1/seq/demo/demo/hello/execute`,
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: 'rivers, dams, salmon' }),
  };
}

/** Formats the request as one shell line. */
export function curlLine(request: DemoRequest): string {
  const headers = Object.entries(request.headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  return ['curl -sS', request.url, ...headers, '-d', quote(request.body)].join(' ');
}

/** Sends the request. `text` is the answer without its blocks, or the reason why there is none. */
export async function send(request: DemoRequest): Promise<{ completed: boolean; text: string }> {
  const { url, headers, body } = request;
  try {
    const { text } = await askService(url, { headers, body, timeoutMs: TIMEOUT_MS });
    const { blocks: _, ...answer } = JSON.parse(text) as { status?: string; blocks?: unknown };
    return { completed: answer.status === 'completed', text: JSON.stringify(answer, null, 2) };
  } catch (error) {
    // The service runs all the same: somebody may have changed the flow, or many runs may be waiting.
    return { completed: false, text: String(error) };
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
