/** The console: its client, undefined when nobody can sign in with it, the scopes it asks for, and Temporal's Web UI. */
export type Console = { clientId: string | undefined; scopes: string; temporalUiUrl: string | undefined };

type Values = {
  WEIR_CONSOLE_CLIENT_ID?: string | undefined;
  WEIR_CONSOLE_SCOPES: string;
  WEIR_TEMPORAL_UI_URL?: string | undefined;
};

/** Reads what the service tells its console. */
export function readConsole(values: Values): Console {
  return {
    clientId: values.WEIR_CONSOLE_CLIENT_ID,
    scopes: values.WEIR_CONSOLE_SCOPES.trim(),
    temporalUiUrl: values.WEIR_TEMPORAL_UI_URL?.replace(/\/+$/, ''),
  };
}
