import type { Connection } from '@temporalio/client';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import type { NativeConnection } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../flow/run.ts';
import { findNamespaceRefusal, GRPC, grpcCodeOf } from '../temporal/engine-errors.ts';

/**
 * Adds the custom search attributes that the namespace lacks. Temporal Cloud accepts them only from its own tools; there the
 * error names the attributes to add.
 */
export async function registerSearchAttributes(
  connection: Connection | NativeConnection,
  namespace: string,
): Promise<void> {
  const { customAttributes } = await connection.operatorService
    .listSearchAttributes({ namespace })
    .catch((error: unknown) => {
      const refusal = findNamespaceRefusal(error, namespace);
      throw refusal ? new Error(`Temporal ${refusal}.`, { cause: error }) : error;
    });
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
  if (missing.length === 0) return;
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map(([name, type]) => [name, encodeSearchAttributeIndexedValueType(type) as number]),
      ),
    });
  } catch (error) {
    // Another process may have added them in the meantime.
    if (grpcCodeOf(error) === GRPC.alreadyExists) return;
    const list = missing.map(([name, type]) => `${name} (${type})`).join(', ');
    throw new Error(
      `Temporal namespace ${namespace} lacks search attributes and did not let this process add them. Add: ${list}.`,
      { cause: error },
    );
  }
}
