import { daySeconds, hourSeconds, yearSeconds } from '@gatehouse/api/platform/durations';
import { type Answer, type RawRequest, send } from './raw-request.ts';
import type { Service } from './service.ts';

/** The lifetime of a cookie that is cleared. */
export const gone = 0;

/** Returns every cookie of the service with its attributes and its lifetime. */
export function cookiesOver(
  scheme: 'http' | 'https',
): Record<string, { name: string; attributes: string[]; seconds: number }> {
  const secure = scheme === 'https' ? ['Secure'] : [];
  const prefix = scheme === 'https' ? '__Host-' : '';
  const common = ['HttpOnly', 'Path=/', 'SameSite=Lax', ...secure];
  return {
    session: { name: `${prefix}session`, attributes: common, seconds: 90 * daySeconds },
    attempt: { name: `${prefix}attempt`, attributes: common, seconds: 600 },
    signup: { name: `${prefix}signup`, attributes: common, seconds: 7 * daySeconds },
    known: { name: `${prefix}known`, attributes: common, seconds: 400 * daySeconds },
    return: { name: `${prefix}return`, attributes: common, seconds: hourSeconds },
    language: { name: `${prefix}language`, attributes: common, seconds: yearSeconds },
    notice: { name: `${prefix}notice`, attributes: common, seconds: 300 },
    steps: { name: `${prefix}steps`, attributes: common, seconds: yearSeconds },
    theme: { name: `${prefix}theme`, attributes: common, seconds: yearSeconds },
    sent: { name: `${prefix}sent`, attributes: common, seconds: hourSeconds },
    shared: {
      name: '__Secure-gatehouse',
      attributes: ['Domain=company.example', ...common],
      seconds: 90 * daySeconds,
    },
  };
}

/** Returns the cookies that a response sets or clears. */
export function setBy({ headers }: Answer) {
  return (headers['set-cookie'] ?? []).map((line) => {
    const [pair = '', ...rest] = line.split('; ');
    const [name = '', value = ''] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const age = rest.find((each) => each.startsWith('Max-Age='));
    const attributes = rest.filter((each) => !/^(Max-Age|Expires)=/.test(each)).sort();
    return { name, value, attributes, seconds: age === undefined ? null : Number(age.slice(8)) };
  });
}

/** Returns a client that keeps the cookies of its answers and sends them, as a browser does. */
export function openCookieBrowser(service: Pick<Service, 'baseUrl'>) {
  const jar = new Map<string, string>();
  return {
    jar,
    async ask(path: string, { headers = {}, ...sent }: RawRequest = {}): Promise<Answer> {
      const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
      const answer = await send(service, path, { ...sent, headers: { ...headers, ...(cookie && { cookie }) } });
      for (const { name, value, seconds } of setBy(answer)) {
        if (seconds === gone) jar.delete(name);
        else jar.set(name, value);
      }
      return answer;
    },
  };
}
