// Tables and lines that several commands print.
import type { toApiKey, toAssistant } from '../../api/organizations/to-records.ts';
import type { getDeliveryDetail, toDeliveryRecord } from '../../api/webhooks/delivery-records.ts';
import { formatTable, formatTime, oneLine } from './print.ts';

type Delivery = ReturnType<typeof toDeliveryRecord>;

type DetailedDelivery = Awaited<ReturnType<typeof getDeliveryDetail>>;

/** A block of a run, as GET …/jobs/{executionId} answers it. */
export type BlockState = {
  key: string;
  name: string;
  status: string;
  attempts: number;
  model: string | null;
  errorMessage?: string;
  usage: {
    promptTokens: number | null;
    cachedTokens: number;
    cacheWriteTokens: number;
    completionTokens: number | null;
    reasoningTokens: number;
    estimated?: true;
    cost: number;
    uncharged?: number;
    ms: number;
  };
};

/** A block that takes long or was refused, as GET …/jobs/{executionId} answers it. */
export type BlockUnderWay = {
  key: string;
  name: string;
  status: 'running' | 'retrying';
  attempts: number;
  startedAt: string;
  errorMessage?: string;
  nextAttemptAt?: string;
};

type Run = {
  executionId: string;
  organization: string;
  project: string;
  flow: string;
  version: number;
  mode: string;
  status: string;
  outcome?: string | undefined;
  /** The code of its error, of a run that failed. */
  code?: string | undefined;
  startedAt: string | Date;
  durationMs: number | null;
  cost: number;
};

type Entry = {
  id: string;
  at: string | Date;
  actor: string;
  action: string;
  resourceId: string;
  details: object;
};

type Key = ReturnType<typeof toApiKey>;

/** Formats one row per API key; returns `empty` when there are no keys. */
export function keyTable(keys: Key[], empty: string): string {
  return formatTable(
    ['key', 'name', 'scopes', 'state', 'created', 'last used', 'expires'],
    keys.map((key) => [
      `weir_${key.environment}_${key.keyId}`,
      key.name,
      key.scopes.join(' '),
      key.state,
      formatTime(key.createdAt),
      formatTime(key.lastUsedAt),
      formatTime(key.expiresAt),
    ]),
    empty,
  );
}

/** Formats one row per connected assistant; returns `empty` when there are none. */
export function assistantTable(assistants: ReturnType<typeof toAssistant>[], empty: string): string {
  return formatTable(
    ['id', 'name', 'client', 'scopes', 'last used'],
    assistants.map(({ id, name, clientId, scopes, lastUsedAt }) => [
      id,
      name ?? '',
      clientId,
      scopes.join(' '),
      formatTime(lastUsedAt),
    ]),
    empty,
  );
}

/** Formats one row per entry of the audit log. */
export function auditTable(entries: Entry[]): string {
  return formatTable(
    ['at', 'actor', 'action', 'resource', 'details', 'id'],
    entries.map((entry) => [
      formatTime(entry.at),
      entry.actor,
      entry.action,
      entry.resourceId,
      JSON.stringify(entry.details),
      entry.id,
    ]),
    'There are no entries.',
  );
}

function describeOutcome({ status, outcome = status, code }: Run): string {
  return code === undefined || outcome === 'cancelled' ? outcome : `${outcome} (${code})`;
}

/** Formats one row per run. */
export function runTable(runs: Run[]): string {
  return formatTable(
    ['execution', 'flow', 'version', 'mode', 'outcome', 'started', 'ms', 'credits'],
    runs.map((run) => [
      run.executionId,
      `${run.organization}/${run.project}/${run.flow}`,
      run.version,
      run.mode,
      describeOutcome(run),
      formatTime(run.startedAt),
      run.durationMs,
      run.cost,
    ]),
    'No runs were found.',
  );
}

/** Formats one row per block, with its error in place of its model. */
export function blockTable(blocks: BlockState[]): string {
  return formatTable(
    ['block', 'name', 'status', 'ms', 'tokens', 'credits', 'attempts', 'model or error'],
    blocks.map((block) => [
      block.key,
      block.name,
      block.status,
      block.usage.ms,
      tokensOf(block) ?? 'unknown',
      block.usage.cost,
      block.attempts,
      block.errorMessage ?? block.model ?? '',
    ]),
    'No block has finished.',
  );
}

/** Adds up the tokens of a block; undefined when they are unknown. */
function tokensOf({ usage: { promptTokens, completionTokens } }: BlockState): number | undefined {
  return promptTokens === null || completionTokens === null ? undefined : promptTokens + completionTokens;
}

/** Lists the tokens that have prices of their own, or that the answer does not show. */
function partsOf({ usage }: BlockState): string {
  const parts = [
    usage.cachedTokens && `${usage.cachedTokens} cached`,
    usage.cacheWriteTokens && `${usage.cacheWriteTokens} written to the cache`,
    usage.reasoningTokens && `${usage.reasoningTokens} of reasoning`,
    usage.estimated && 'estimated',
  ].filter(Boolean);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

/** Formats one block as a line. */
export function blockLine(block: BlockState): string {
  const tokens = tokensOf(block) ?? 0;
  const { cost, uncharged } = block.usage;
  const beyond = uncharged ? ` (${uncharged} more are not charged)` : '';
  const spent = tokens > 0 ? `, ${tokens} tokens${partsOf(block)}, ${cost} credits${beyond}` : '';
  const line = `${block.status} ${block.key} (${block.name}) ${block.usage.ms} ms${spent}`;
  return oneLine(block.errorMessage === undefined ? line : `${line}: ${block.errorMessage}`);
}

/** Formats the notes of a run about its cost as lines. */
export function noteLines(notes: string[] = []): string[] {
  return notes.map((text) => `note: ${oneLine(text)}`);
}

/** Formats one block under way as a line. */
export function underWayLine(block: BlockUnderWay): string {
  const line = `${block.status} ${block.key} (${block.name})`;
  if (block.nextAttemptAt === undefined)
    return oneLine(block.attempts > 1 ? `${line}, attempt ${block.attempts}` : line);
  return oneLine(
    `${line}, attempt ${block.attempts} failed, the next is at ${block.nextAttemptAt}: ${block.errorMessage}`,
  );
}

/** Formats one row per delivery. */
export function deliveryTable(deliveries: Delivery[]): string {
  return formatTable(
    ['delivery', 'event', 'status', 'attempt', 'answer', 'created', 'url'],
    deliveries.map((delivery) => [
      delivery.id,
      delivery.eventType,
      delivery.status,
      delivery.attempt,
      delivery.responseStatus,
      formatTime(delivery.createdAt),
      delivery.targetUrl,
    ]),
    'No deliveries were found.',
  );
}

/** An overdue attempt waits in a queue, or its worker was lost; when it is made is not known here. */
function describeNext(at: string): string {
  return `, next attempt ${Date.parse(at) > Date.now() ? '' : 'due since '}${formatTime(at)}`;
}

/** Formats a delivery with its attempts and its body. */
export function formatDelivery(delivery: DetailedDelivery): string {
  const { nextAttemptAt, requestBody } = delivery;
  return [
    `${delivery.id}  ${delivery.eventType} to ${oneLine(delivery.targetUrl)}`,
    `${delivery.status}, created ${formatTime(delivery.createdAt)}${nextAttemptAt ? describeNext(nextAttemptAt) : ''}`,
    delivery.executionId ? `Run: ${delivery.executionId}` : 'A test, of no run.',
    ...(delivery.errorMessage === null ? [] : [`Error: ${oneLine(delivery.errorMessage)}`]),
    '',
    formatTable(
      ['round', 'attempt', 'started', 'ms', 'answer', 'error or body'],
      delivery.attempts.map((attempt) => [
        attempt.round,
        attempt.attempt,
        formatTime(attempt.startedAt),
        attempt.durationMs,
        attempt.responseStatus,
        attempt.errorMessage ?? attempt.responseBody,
      ]),
      'No attempt was made yet.',
    ),
    ...(requestBody === null ? [] : ['', `Body: ${oneLine(requestBody)}`]),
  ].join('\n');
}
