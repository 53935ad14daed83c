import type { App } from '../app.ts';
import { doctorHeader, doctorToken, forwardedHeader } from '../operators/doctor/check-proxies.ts';

type RequestHeaders = Pick<Headers, 'get'>;

const warned = new WeakSet<App>();

/**
 * Warns once, when a request's X-Forwarded-For does not have as many addresses as TRUSTED_PROXIES says: with more, all
 * users share the address of a proxy and its rate limits; with fewer, they choose the address by which they are
 * limited. A client that sends the header itself causes the warning too, so it names the doctor, which knows.
 */
export function watchProxies(app: App, headers: RequestHeaders): void {
  const addresses = countForwarded(headers);
  if (addresses === 0 || addresses === app.config.trustedProxies || warned.has(app)) return;

  warned.add(app);
  app.log.warn('X-Forwarded-For has another number of addresses than TRUSTED_PROXIES says. Run the doctor.', {
    addresses,
    trustedProxies: app.config.trustedProxies,
  });
}

/** Returns the header that tells the doctor how many addresses arrived, and nothing to anybody else. */
export function forwardedForDoctor(app: App, headers: RequestHeaders): Record<string, string> {
  const token = headers.get(doctorHeader);
  if (token === null || token !== doctorToken(app)) return {};
  return { [forwardedHeader]: String(countForwarded(headers)) };
}

function countForwarded(headers: RequestHeaders): number {
  const forwarded = headers.get('x-forwarded-for');
  return forwarded === null ? 0 : forwarded.split(',').length;
}
