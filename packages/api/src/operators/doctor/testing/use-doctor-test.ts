import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { App } from '../../../app.ts';
import { startSignIn } from '../../../auth/sign-in/attempt.ts';
import { setUpBilling } from '../../../billing/actions/set-up-billing.ts';
import { receiveEvent } from '../../../billing/events/receive-event.ts';
import type { Config } from '../../../platform/config.ts';
import { startTestApp, type TestApp } from '../../../testing/app.ts';
import { runChecks } from '../doctor.ts';

type DoctorTest = TestApp & {
  /** The URL of the service, where `serve` answers. */
  base: string;
  /** Answers as the running service does, as far as the doctor requests it. */
  serve: RequestListener;
  /** What answers in place of `serve`, until the test ends. */
  instead: RequestListener | null;
  withConfig: (changes: Partial<Config>) => App;
};

/** Starts the App, with billing set up at the sandbox and a server at its base URL, for all tests of a file. */
export function useDoctorTest(): DoctorTest {
  const running = {} as DoctorTest;
  running.serve = serve;
  running.withConfig = (changes) => ({ ...running.app, config: { ...running.app.config, ...changes } });
  const service = createServer((request, response) => (running.instead ?? serve)(request, response));

  async function serve(...[request, response]: Parameters<RequestListener>): Promise<void> {
    if (request.url === '/auth/idp/start') {
      const started = await startSignIn(running.app, { attemptCookie: null }, { address: '127.0.0.1' });
      const cookie = `attempt=${started?.cookie}; Path=/; HttpOnly; SameSite=Lax`;
      response.writeHead(302, { location: started?.url ?? '/login', 'set-cookie': cookie }).end();
    } else if (request.url === '/webhooks/payment') {
      const parts: Uint8Array[] = [];
      for await (const part of request) parts.push(part);
      const signature = String(request.headers['payment-signature']);
      const refused = await receiveEvent(running.app, { body: Buffer.concat(parts), signature }).catch(
        (error) => error,
      );
      response.writeHead(400).end(JSON.stringify({ error: refused.message }));
    } else {
      response.writeHead(request.url === '/healthz' ? 200 : 404).end();
    }
  }

  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, 'localhost', resolve));
    const base = `http://localhost:${(service.address() as AddressInfo).port}`;
    Object.assign(running, { base }, await startTestApp({ work: false, environment: { PUBLIC_BASE_URL: base } }));
    running.sandbox.setServiceUrl(base);
    await setUpBilling(running.app);
  });

  beforeEach(() => {
    running.instead = null;
    running.sandbox.payment.resetSwitches();
  });

  afterAll(async () => {
    service.closeAllConnections();
    service.close();
    await running.close();
  });
  return running;
}

/** Returns the lines of the wrong findings, each without its mark. */
export async function wrongWith(app: App): Promise<string[]> {
  const { report, sound } = await runChecks(app);
  const lines = report.split('\n').filter((line) => line.startsWith('WRONG'));
  expect(sound).toBe(lines.length === 0);
  return lines.map((line) => line.slice('WRONG  '.length));
}
