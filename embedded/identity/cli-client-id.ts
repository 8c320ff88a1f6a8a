/** The client of `weir login`. */
export const CLI_CLIENT_ID = 'weir-cli';
