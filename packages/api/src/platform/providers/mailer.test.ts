import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { parseConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { readAddress } from '../security/address.ts';
import { createMailer } from './mailer.ts';

/** Sends a mail to an address, and returns the lines of the envelope and the header that the server received. */
async function sentTo(to: string): Promise<string[]> {
  const lines: string[] = [];
  let inData = false;
  const server = createServer((socket) => {
    socket.setEncoding('utf8').write('220 mail.example ESMTP\r\n');
    socket.on('data', (text: string) => {
      for (const line of text.split('\r\n').filter((each) => each !== '')) {
        lines.push(line);
        if (inData && line !== '.') continue;
        inData = line === 'DATA';
        const answer = line.startsWith('EHLO') ? '250-mail.example\r\n250 SMTPUTF8' : inData ? '354 Go' : '250 OK';
        socket.write(`${answer}\r\n`);
      }
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = (server.address() as { port: number }).port;
  const config = parseConfig({ SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Company <no-reply@company.example>' });
  const mailer = createMailer(config, createLog(config.log));
  try {
    await mailer.send({ to, subject: 'Subject', text: 'text', html: '<p>text</p>' });
  } finally {
    mailer.close();
    server.close();
  }
  return lines.filter((line) => /^(MAIL FROM|RCPT TO|To:|From:)/.test(line));
}

it.each(['person@company.example', 'Person@MÜNCHEN.example', 'पर्सन@कंपनी.example', "o'neil+tag@company.example"])(
  'sends to exactly the address that is stored for %s',
  async (typed) => {
    const stored = readAddress(typed) ?? '';
    expect(await sentTo(stored)).toEqual([
      expect.stringMatching(/^MAIL FROM:<no-reply@company\.example>/),
      `RCPT TO:<${stored}>`,
      'From: Company <no-reply@company.example>',
      expect.stringMatching(/^To: \S+@\S+$/),
    ]);
  },
);
