// The part of a browser that signing in needs: cookies, redirects within one origin, and one form at a time.

/** A user's credentials at the embedded identity provider. */
export type Account = { email: string; password: string };
type Page = { url: string; status: number; text: string };

type Browser = {
  open(url: string): Promise<Page>;
  /** Sends the form of the last page whose action ends with `action`. */
  submit(action: string, fields?: Record<string, string>): Promise<Page>;
};

/** Follows redirects within `origin`; one that leads away ends as a page with its URL, which is not requested. */
export function createBrowser(origin: string): Browser {
  const cookies = new Map<string, { value: string; path: string }>();
  let last: Page;

  async function request(url: string, init: RequestInit = {}): Promise<Page> {
    const { pathname } = new URL(url);
    const sent = [...cookies].filter(([, { path }]) => pathname.startsWith(path));
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      // No connection of its own is left to a server that ends and starts again.
      headers: {
        connection: 'close',
        cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; '),
      },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /path=([^;]+)/i.exec(line)?.[1] ?? '/';
      if (value === '') cookies.delete(name);
      else cookies.set(name, { value, path });
    }
    const location = response.headers.get('location');
    if (location) {
      const next = new URL(location, url);
      if (next.origin === origin) return request(next.href);
      last = { url: next.href, status: response.status, text: '' };
    } else last = { url, status: response.status, text: await response.text() };
    return last;
  }

  return {
    open: (url) => request(url),
    submit(action, fields = {}) {
      const forms = [...last.text.matchAll(/<form[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g)];
      const [, target, inner = ''] = forms.find(([, url]) => url?.endsWith(action)) ?? [];
      if (target === undefined) throw new Error(`No form ${action} on this page: ${last.text}`);
      const hidden = [...inner.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const checked = [...inner.matchAll(/type="checkbox" name="([^"]+)" value="([^"]*)" checked/g)];
      const values = {
        ...Object.fromEntries([...hidden, ...checked].map(([, name, value]) => [name, value])),
        ...fields,
      };
      return request(new URL(target, last.url).href, {
        method: 'POST',
        body: new URLSearchParams(values),
      });
    },
  };
}

/** Signs the user in where asked to, and consents; returns the URL with which the browser goes back to the client. */
export async function consent(browser: Browser, url: string, account: Account): Promise<string> {
  const page = await browser.open(url);
  if (page.text.includes('<h1>Sign in</h1>')) await browser.submit('/login', account);
  return (await browser.submit('/confirm')).url;
}
