import autocannon from 'autocannon';

export type Request = { method: 'GET' | 'POST'; path: string; headers: Record<string, string>; body?: string };

export type Figures = { perSecond: number; p50: number; p95: number };

type Options = {
  connections: number;
  /** How long, unless an amount of requests is given. */
  seconds?: number;
  amount?: number;
};

/**
 * Sends requests over some connections, one after the other on each, for some seconds or until an amount is
 * sent. Times are in milliseconds.
 *
 * @throws Error if an answer has another status than 200, because the figures would then mean nothing.
 */
export async function load(
  origin: string,
  next: () => Request,
  { connections, seconds, amount }: Options,
): Promise<Figures> {
  const times: number[] = [];
  const wrong = new Map<number, number>();
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const options: autocannon.Options = {
      url: origin,
      connections,
      // The service closes a connection after 1,000 requests and says so, which this client does not read.
      reconnectRate: 900,
      ...(amount === undefined ? { duration: seconds ?? 1 } : { amount }),
      requests: [{ setupRequest: (request) => ({ ...request, ...next() }) as autocannon.Request }],
    };
    const run = autocannon(options, (error, ended) => (error ? reject(error) : resolve(ended)));
    run.on('response', (_client, code, _bytes, milliseconds) => {
      times.push(milliseconds);
      if (code !== 200) wrong.set(code, (wrong.get(code) ?? 0) + 1);
    });
  });
  if (wrong.size > 0 || result.errors > 0) {
    throw new Error(`${next().path}: ${result.errors} errors, answers ${JSON.stringify([...wrong])}`);
  }

  times.sort((one, other) => one - other);
  return { perSecond: times.length / result.duration, p50: at(times, 0.5), p95: at(times, 0.95) };
}

function at(sorted: number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
