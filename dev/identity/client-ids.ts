/** The client of `weir login`. */
export const CLI_CLIENT_ID = 'weir-cli';
/** The client of the console: the one program whose codes can go nowhere but to the service itself. */
export const CONSOLE_CLIENT_ID = 'weir-console';
/** The client of a console under development, which runs at another port. */
export const CONSOLE_DEVELOPMENT_CLIENT_ID = 'weir-console-dev';
/** The client of `weir token`, and the user its tokens stand for. */
export const SCRIPT_CLIENT_ID = 'weir-script';
