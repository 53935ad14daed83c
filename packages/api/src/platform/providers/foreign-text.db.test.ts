import http, { type RequestListener } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { signUp, signUpInput } from '../../auth/sign-up/sign-up.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { parseConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { createIdentityProvider } from './identity.ts';
import { createMailer } from './mailer.ts';
import { createPayment, providerErrorOf } from './payment/connection.ts';
import { signDelivery, verifyDelivery } from './payment/verify-delivery.ts';

/** A secret that another system may quote in its answer. */
const secret = 'tok3n-Quoted-By-Another-System';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Returns the line of a failure in the log. */
function logged(error: unknown): string {
  const lines: string[] = [];
  createLog({ level: 'debug', format: 'json', write: (line) => lines.push(line) }).warn('failed', { error });
  return lines.join('');
}

async function failureOf(attempt: Promise<unknown>): Promise<unknown> {
  return attempt.then(
    () => {
      throw new Error('It did not fail.');
    },
    (error: unknown) => error,
  );
}

async function listening(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A mail server that answers one command with a refusal, and everything else politely. */
function mailServer(refused: 'greeting' | 'EHLO' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'body') {
  const no = `550 5.7.1 refused, see https://mail.example/?token=${secret}\r\n`;
  return net.createServer((socket) => {
    let isBody = false;
    socket.on('error', () => {});
    socket.write(refused === 'greeting' ? no : '220 mail.example\r\n');
    socket.on('data', (bytes) => {
      const text = bytes.toString();
      if (isBody) {
        if (!text.endsWith('\r\n.\r\n')) return;
        isBody = false;
        return socket.write(refused === 'body' ? no : '250 ok\r\n');
      }
      const command = text.slice(0, 4).trim().toUpperCase();
      // A client that may not say EHLO says HELO.
      if ((command === 'HELO' ? 'EHLO' : command) === refused) return socket.write(no);
      if (command === 'EHLO') return socket.write('250-mail.example\r\n250 AUTH PLAIN\r\n');
      if (command === 'AUTH') return socket.write('235 ok\r\n');
      if (command === 'QUIT') return socket.end('221 bye\r\n');
      isBody = command === 'DATA';
      return socket.write(isBody ? '354 go on\r\n' : '250 ok\r\n');
    });
  });
}

function mailerAt(port: number) {
  const config = parseConfig({ SMTP_URL: `smtp://user:password@127.0.0.1:${port}`, MAIL_FROM: 'a@gatehouse.example' });
  return createMailer(config, createLog({ level: 'error', format: 'json', write: () => {} }));
}

describe('a mail server’s text is not in the log', () => {
  test.each(['greeting', 'EHLO', 'AUTH', 'MAIL', 'RCPT', 'DATA', 'body'] as const)(
    'refusing the %s',
    async (refused) => {
      const mailer = mailerAt(await listening(mailServer(refused)));
      closing.push(() => mailer.close());
      const mail = { to: 'b@gatehouse.example', subject: 'Subject', text: 'Text', html: '<p>Text</p>' };
      const line = logged(await failureOf(mailer.send(mail)));
      expect(line).not.toContain(secret);
      expect(line).not.toContain('mail.example');
      expect(line).toMatch(/ 550\b/);
    },
  );

  test('which cannot be reached', async () => {
    const line = logged(await failureOf(mailerAt(1).check()));
    expect(line).toMatch(/ESOCKET|ECONNREFUSED|ECONNECTION/);
  });

  describe('nor in what a failed job keeps', () => {
    let running: TestApp | undefined;
    afterAll(() => running?.close());

    test('in the database', async () => {
      const port = await listening(mailServer('RCPT'));
      running = await startTestApp({ environment: { SMTP_URL: `smtp://127.0.0.1:${port}` } });
      const { app, logged: entries } = running;
      await signUp(app, signUpInput.parse({ email: newEmail(), password: testPassword }), testClient);
      await expect.poll(() => entries.some(({ message }) => message === 'job failed')).toBe(true);
      // The queue stores the failure after the job has logged it.
      let kept = '';
      const readKept = async () => {
        kept = JSON.stringify(await app.sql`select * from pgboss.job where name = 'verification-mail'`);
        return kept;
      };
      await expect.poll(readKept).toContain('verification-mail failed');
      expect(JSON.stringify([kept, entries])).not.toContain(secret);
    });
  });
});

async function answering(behave: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(http.createServer(behave))}`;
}

describe('the payment provider’s text is not in the log', () => {
  const refusal = { error: { type: 'invalid_request_error', code: secret, message: `no: ${secret}`, param: secret } };
  test.each<[string, number, string]>([
    ['a refusal', 400, JSON.stringify(refusal)],
    ['a wrong key', 401, JSON.stringify(refusal)],
    ['a declined card', 402, JSON.stringify({ error: { type: 'card_error', code: 'card_declined', message: secret } })],
    ['a failure', 500, JSON.stringify({ error: { type: 'api_error', message: secret } })],
    ['no JSON', 200, `<h1>${secret}</h1>`],
  ])('of %s', async (_, status, body) => {
    const apiUrl = await answering((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_${secret}` }).end(body);
    });
    const { askBriefly } = createPayment({ secretKey: 'sk_test_sandbox', apiUrl });
    const error = await failureOf(askBriefly((provider) => provider.customers.retrieve('cus_1')));
    expect(logged(error)).not.toContain(secret);
    if (status !== 200) {
      expect(logged(error)).toContain(String(status));
      expect(providerErrorOf(error)?.status).toBe(status);
    }
  });

  test('of a delivery that is signed and no JSON', async () => {
    const now = new Date();
    const body = `{"${secret}`;
    const signature = await signDelivery(body, 'secret', now);
    const error = await failureOf(verifyDelivery({ payload: body, signature }, ['secret'], now));
    expect(logged(error)).not.toContain(secret);
  });
});

describe('the identity provider’s text is not in the log', () => {
  test.each<[string, RequestListener]>([
    [
      'a refusal',
      (_, response) => {
        response.writeHead(400, secret, { 'x-why': secret }).end(JSON.stringify({ error: secret }));
      },
    ],
    ['no JSON', (_, response) => void response.end(`<h1>${secret}</h1>`)],
    ['a redirect', (_, response) => void response.writeHead(302, { location: `https://${secret}.example/` }).end()],
    ['a broken encoding', (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(secret)],
    ['no HTTP', ({ socket }) => void socket.end(`${secret}\r\n\r\n`)],
    ['a closed connection', ({ socket }) => void socket.destroy()],
  ])('of %s', async (_, behave) => {
    const tokenUrl = `${await answering(behave)}/token`;
    const { idp } = parseConfig({ IDP_CLIENT_ID: 'a', IDP_CLIENT_SECRET: 'b', IDP_TOKEN_URL: tokenUrl });
    if (idp === null) throw new Error('The feature is off.');
    const grant = { code: secret, redirectUri: 'http://localhost/auth/idp/callback', codeVerifier: null };
    const line = logged(await failureOf(createIdentityProvider(idp).exchangeCode(grant)));
    expect(line).not.toContain(secret);
    expect(line).not.toContain(secret.toLowerCase());
    expect(line).toMatch(/token endpoint/);
  });
});
