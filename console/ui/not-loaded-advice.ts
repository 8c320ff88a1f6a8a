/** Said where a part of the console did not come: the service has the parts of its own release only. */
export const NOT_LOADED_ADVICE =
  'Check that you are online; if you are, reload the page: the service may have been upgraded.';
