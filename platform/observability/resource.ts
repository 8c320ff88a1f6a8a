import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  type ResourceDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions';

/** Without an id of its own, a process's metrics are taken for those of all processes with the same service name. */
const INSTANCE_ID = randomUUID();

/** OpenTelemetry's own detector of the host also tells the id of the machine, which is confidential (machine-id(5)). */
const hostDetector: ResourceDetector = { detect: () => ({ attributes: { 'host.name': hostname() } }) };

/** Variables may name the service and the process: what a detector finds is stronger, the last one's most of all. */
export const DETECTORS = [hostDetector, envDetector];

/** Names the service and the process. */
export function nameProcess(service: string): Resource {
  const names = { [ATTR_SERVICE_NAME]: service, [ATTR_SERVICE_INSTANCE_ID]: INSTANCE_ID };
  return defaultResource().merge(resourceFromAttributes(names));
}

/** Names the service, the process and its host, as variables say where they do. */
export async function detectProcess(service: string): Promise<Resource> {
  const resource = nameProcess(service).merge(detectResources({ detectors: DETECTORS }));
  await resource.waitForAsyncAttributes?.();
  return resource;
}
