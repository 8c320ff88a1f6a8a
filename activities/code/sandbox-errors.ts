/** A guest process ended by itself during a call, which may be retried. `cause` may have the process's last output. */
export class SandboxCrashed extends Error {
  override readonly name = 'SandboxCrashed';
}

/** Not the code's fault: no process can be started, one was killed (memory is short), or the service is stopping. */
export class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable';
}
