import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { makeOwner, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

const form = 'email=somebody%40company.example&password=a+long+pass+phrase';
const json = JSON.stringify({ email: 'somebody@company.example', password: 'a long pass phrase' });

test('connections that clients cut at any moment end nothing', async ({ page, request, service }) => {
  await signIn(page, await makeOwner(service, request));
  const { origin, port } = new URL(service.baseUrl);
  const cookies = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  const script = /\/_app\/immutable\/entry\/start[^"]+/.exec(await (await page.request.get('/')).text())?.[0] ?? '';
  expect(script).not.toBe('');

  const head = (line: string) =>
    `${line} HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: ${origin}\r\nCookie: ${cookies}\r\n`;
  const get = (path: string) => `${head(`GET ${path}`)}\r\n`;
  const post = (path: string, type: string, body: string) =>
    `${head(`POST ${path}`)}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const sent = [
    get(script),
    get(script).repeat(5),
    `${head(`HEAD ${script}`)}\r\n`,
    `${head(`GET ${script}`)}Range: bytes=0-99\r\n\r\n`,
    ...['/', '/login', '/billing', '/billing/__data.json', '/api/subscription', '/auth/idp/start', '/none'].map(get),
    post('/login', 'application/x-www-form-urlencoded', form),
    post('/login', 'application/x-www-form-urlencoded', form).slice(0, -20),
    post('/api/login', 'application/json', json),
    post('/api/login', 'application/json', json).slice(0, -20),
    post('/webhooks/payment', 'application/json', json),
  ];

  const before = service.printed().length;
  const cut = async (text: string, milliseconds: number) => {
    const socket = net.connect(Number(port), '127.0.0.1').on('error', () => {});
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    socket.resume().write(text);
    if (milliseconds > 0) await pause(milliseconds);
    else await new Promise((resolve) => setImmediate(resolve));
    socket.resetAndDestroy();
    await closed;
  };
  for (let round = 0; round < 20; round++)
    for (const milliseconds of [0, 2, 10]) await Promise.all(sent.map((text) => cut(text, milliseconds)));

  expect((await page.request.get('/api/session')).status()).toBe(200);
  expect((await page.request.get(script)).status()).toBe(200);
  expect(service.printed().slice(before)).not.toContain('"level":"error"');
});
