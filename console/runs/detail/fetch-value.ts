import { toApiError, toCutOff } from '../../api/api-error.ts';
import { authorizedFetch } from '../../api/authorized-fetch.ts';
import { saveFile } from '../../ui/save-file.ts';

/** Fetches a value of a run. */
export async function fetchValue(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await ask(url, signal);
  return await response.json().catch(cutOff);
}

/** Fetches the first bytes of a value as text, and cancels the rest. */
export async function fetchBeginning(url: string, bytes: number, signal: AbortSignal): Promise<string> {
  const response = await ask(url, signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader && text.length < bytes) {
    const { done, value } = await reader.read().catch(cutOff);
    if (done) break;
    text += value;
  }
  await reader?.cancel().catch(() => undefined);
  return text.slice(0, bytes);
}

/** Downloads a value as a file. */
export async function downloadValue(url: string, name: string): Promise<void> {
  const response = await ask(url);
  saveFile(await response.blob().catch(cutOff), name);
}

function cutOff(error: unknown): never {
  throw toCutOff(error, 'GET');
}

async function ask(url: string, signal?: AbortSignal): Promise<Response> {
  const request = new Request(new URL(url, location.origin), signal ? { signal } : {});
  const response = await authorizedFetch(request);
  if (!response.ok) throw await toApiError(response);
  return response;
}
