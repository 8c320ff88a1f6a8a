/** A guest process crashed during a call. The call may be retried. `cause` may have the last output of the process. */
export class SandboxCrashed extends Error {
  override readonly name = 'SandboxCrashed';
}

/** Not the code's fault: no process can be started, one was killed (memory is short), or the service is stopping. */
export class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable';
}
