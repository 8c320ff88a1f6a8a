/** Shown when a part of the console could not be loaded: the service only has the files of its own release. */
export const NOT_LOADED_ADVICE =
  'Check that you are online; if you are, reload the page: the service may have been upgraded.';
