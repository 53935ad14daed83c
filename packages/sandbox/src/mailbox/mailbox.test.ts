import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sandbox } from '../sandbox.ts';
import { startTestSandbox } from '../testing.ts';
import type { Mail } from './mailbox.ts';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startTestSandbox();
});
beforeEach(() => {
  sandbox.mailbox.clear();
  sandbox.mailbox.setFault(null);
});
afterAll(() => sandbox.close());

const link = 'http://localhost:3000/verify?token=abc_DEF-123';

test('a mail has its text, HTML, links and headers', async () => {
  expect(await send('ada@example.test', twoParts('Confirm your address'))).toContain('250');
  const mail = await sandbox.mailbox.waitFor('ADA@example.test');
  expect(mail).toMatchObject({
    from: '"Gatehouse" <no-reply@localhost>',
    to: ['ada@example.test'],
    subject: 'Confirm your address',
    links: [link, 'https://example.test/?a=1&b=2'],
  });
  expect(mail.headers['auto-submitted']).toBe('auto-generated');
  const json = (await (await fetch(`${sandbox.url}/mailbox/messages?to=ada@example.test`)).json()) as Mail[];
  expect(json).toEqual([mail]);
  const page = await (await fetch(`${sandbox.url}/mailbox`)).text();
  expect(page).toContain(`<a href="${link}">`);
  const shown = await (await fetch(`${sandbox.url}/mailbox/${mail.id}`)).text();
  expect(shown).toContain('sandbox="allow-popups');
  const markup = await fetch(`${sandbox.url}/mailbox/${mail.id}/html`);
  expect(markup.headers.get('content-security-policy')).toMatch(/^sandbox .*default-src 'none'/);
});

test('mails are listed newest first, can be filtered by address, and can be waited for', async () => {
  await send('ada@example.test', twoParts('One'));
  const first = await sandbox.mailbox.waitFor('ada@example.test');
  const waiting = sandbox.mailbox.waitFor('ada@example.test', first);
  await send('bo@example.test', twoParts('Other'));
  await send('ada@example.test', twoParts('Two'));
  expect((await waiting).subject).toBe('Two');
  expect(sandbox.mailbox.messages('ada@example.test').map(({ subject }) => subject)).toEqual(['Two', 'One']);
  await expect(sandbox.mailbox.waitFor('cy@example.test', null, 20)).rejects.toThrow('No mail to cy@example.test');
});

test('the HTML of a mail is shown in a document without scripts or an origin', async () => {
  await send('ada@example.test', 'Subject: <script>alert(1)</script>\r\n\r\n<b>not bold</b>');
  const page = await (await fetch(`${sandbox.url}/mailbox`)).text();
  expect(page).not.toContain('<script>');
  expect(page).toContain('&#60;script&#62;');
});

test('the mail server refuses, defers, hangs or disconnects as set', async () => {
  const mail = twoParts('Lost');
  sandbox.mailbox.setFault('refuse');
  expect(await send('ada@example.test', mail)).toContain('550');
  sandbox.mailbox.setFault('later');
  expect(await send('ada@example.test', mail)).toContain('451');
  sandbox.mailbox.setFault('close');
  expect(await send('ada@example.test', mail)).toContain('421');
  sandbox.mailbox.setFault('hang');
  expect(await send('ada@example.test', mail, { timeoutMilliseconds: 300 })).toBe('silence');
  expect(sandbox.mailbox.messages()).toEqual([]);
});

function twoParts(subject: string): string {
  return [
    'From: "Gatehouse" <no-reply@localhost>',
    'To: another@example.test',
    `Subject: ${subject}`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=frontier',
    '',
    '--frontier',
    'Content-Type: text/plain; charset=utf-8',
    '',
    `Open ${link}.`,
    '--frontier',
    'Content-Type: text/html; charset=utf-8',
    '',
    `<p><a href="${link}">Confirm</a> <a href='https://example.test/?a=1&amp;b=2'>More</a></p>`,
    '--frontier--',
    '',
  ].join('\r\n');
}

/** Sends a mail over SMTP line by line. Returns the last answer, or "silence" if none comes in time. */
async function send(to: string, mail: string, { timeoutMilliseconds = 60_000 } = {}): Promise<string> {
  const { hostname, port } = new URL(sandbox.smtpUrl);
  const socket = connect(Number(port), hostname);
  const lines = ['EHLO test', 'MAIL FROM:<no-reply@localhost>', `RCPT TO:<${to}>`, 'DATA', `${mail}\r\n.`];
  let last = '';
  try {
    for (const line of [null, ...lines]) {
      if (line !== null) socket.write(`${line}\r\n`);
      last = await answer(socket, timeoutMilliseconds);
      if (!/^[23]/.test(last)) return last;
    }
    return last;
  } finally {
    socket.destroy();
  }
}

function answer(socket: ReturnType<typeof connect>, timeoutMilliseconds: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const timer = setTimeout(() => finish('silence'), timeoutMilliseconds);
    const onData = (chunk: Buffer) => {
      text += chunk.toString();
      if (/^\d{3} .*\r\n$/m.test(text)) finish(text);
    };
    function finish(result: string): void {
      clearTimeout(timer);
      socket.off('data', onData);
      resolve(result);
    }
    socket.on('data', onData);
  });
}
