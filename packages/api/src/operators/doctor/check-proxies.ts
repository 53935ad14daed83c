import type { App } from '../../app.ts';
import { type Finding, right, wrong } from './finding.ts';

/** The doctor's request has this header, and the answer that one, with the number of addresses that arrived. */
export const doctorHeader = 'x-gatehouse-doctor';
export const forwardedHeader = 'x-gatehouse-forwarded';

/** What only programs on the same database know, so that nobody else learns how many proxies there are. */
export function doctorToken({ pseudonymOf }: Pick<App, 'pseudonymOf'>): string {
  return pseudonymOf('doctor');
}

const about = 'Proxies';

/**
 * Asks the service through PUBLIC_BASE_URL how many addresses X-Forwarded-For has when it arrives, and compares that
 * with TRUSTED_PROXIES. Without an answer of a service on the same database, judges by the scheme alone.
 */
export async function checkProxies(app: App): Promise<Finding[]> {
  const { publicBaseUrl: base, trustedProxies } = app.config;
  if (base === null) return [];

  const arrived = await askForwarded(app, base);
  const isSecure = base.startsWith('https:');
  if (arrived === null) {
    if (!isSecure || trustedProxies > 0) return [];
    const sentence =
      'TRUSTED_PROXIES is 0, but https ends at a proxy: all users share its address and its rate limits. Set it to the number of proxies, most often 1.';
    return [wrong(about, sentence)];
  }
  if (arrived === 0 && isSecure) {
    const sentence = `A request through ${base} arrives without X-Forwarded-For: all users share the proxy’s address and its rate limits. Let the proxy send it.`;
    return [wrong(about, sentence)];
  }
  if (arrived === trustedProxies) return [right(about, `TRUSTED_PROXIES is ${trustedProxies}, as it should be.`)];
  const effect =
    arrived > trustedProxies
      ? 'all users share the address of a proxy and its rate limits'
      : 'users can choose the address by which they are limited';
  const sentence = `TRUSTED_PROXIES is ${trustedProxies}, but a request through ${base} arrives with ${arrived} in X-Forwarded-For: ${effect}. Set it to ${arrived}.`;
  return [wrong(about, sentence)];
}

async function askForwarded(app: App, base: string): Promise<number | null> {
  try {
    const { headers } = await fetch(`${base}/api/session`, {
      headers: { [doctorHeader]: doctorToken(app) },
      redirect: 'manual',
      signal: AbortSignal.timeout(5000),
    });
    const arrived = headers.get(forwardedHeader);
    return arrived === null ? null : Number(arrived);
  } catch {
    return null;
  }
}
