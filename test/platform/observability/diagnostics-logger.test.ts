import assert from 'node:assert/strict';
import { withLogContext } from '../../../platform/observability/log.ts';
import { createDiagnosticsLogger } from '../../../platform/observability/open-telemetry.ts';
import { captureLog } from '../../capture-log.ts';

describe('a problem of OpenTelemetry', () => {
  it('is not a line of the request during which it was found', () => {
    const log = captureLog();
    try {
      const logger = createDiagnosticsLogger();
      withLogContext({ request_id: 'a-request' }, () => logger.error('connect ECONNREFUSED'));
      assert.match(JSON.stringify(log.lines), /ECONNREFUSED/);
      assert.doesNotMatch(JSON.stringify(log.lines), /a-request/);
    } finally {
      log.stop();
    }
  });
});
