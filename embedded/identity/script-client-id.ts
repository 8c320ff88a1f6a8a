/** The client of `weir token`, and the user its tokens stand for. */
export const SCRIPT_CLIENT_ID = 'weir-script';
