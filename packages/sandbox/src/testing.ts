import { webhookSecret } from '@gatehouse/payment-sandbox/testing';
import { type Sandbox, startSandbox } from './sandbox.ts';

/** Starts a sandbox on free ports. Without `dataDir` it keeps its state in memory. */
export function startTestSandbox(
  options: { serviceUrl?: string; dataDir?: string; seeded?: boolean } = {},
): Promise<Sandbox> {
  return startSandbox({
    port: 0,
    smtpPort: 0,
    dataDir: options.dataDir ?? null,
    serviceUrl: options.serviceUrl ?? 'http://localhost:3000',
    idp: { clientId: 'sandbox-client', clientSecret: 'sandbox_client_secret' },
    payment: { secretKey: 'sk_test_sandbox', webhookSecret, seeded: options.seeded ?? true },
  });
}

/** Returns a browser for tests of sign-in, which keeps cookies by path and follows redirects within one origin. */
export function openBrowser() {
  const jar = new Map<string, { value: string; path: string }>();
  return { open, jar };

  async function open(address: string, form?: Record<string, string>): Promise<Response & { at: string }> {
    let url = address;
    let body = form && new URLSearchParams(form);
    for (let hops = 0; hops < 10; hops += 1) {
      const cookie = [...jar]
        .filter(([, { path }]) => new URL(url).pathname.startsWith(path))
        .map(([name, { value }]) => `${name}=${value}`)
        .join('; ');
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie },
        ...(body && { method: 'POST', body }),
      });
      for (const line of response.headers.getSetCookie()) keep(line);
      const location = response.headers.get('location');
      const next = location && new URL(location, url);
      if (!next || next.origin !== new URL(url).origin) return Object.assign(response, { at: next ? next.href : url });
      url = next.href;
      body = undefined;
    }
    throw new Error('Too many redirects.');
  }

  function keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const name = pair.slice(0, pair.indexOf('='));
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
    const expires = attributes.find((attribute) => /^expires=/i.test(attribute))?.slice(8);
    if (expires && new Date(expires) < new Date()) jar.delete(name);
    else jar.set(name, { value: pair.slice(pair.indexOf('=') + 1), path });
  }
}
