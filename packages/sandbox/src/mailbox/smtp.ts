import type { AddressInfo } from 'node:net';
import { domainToASCII } from 'node:url';
import { SMTPServer } from 'smtp-server';
import type { Mail, Mailbox } from './mailbox.ts';
import { readMail } from './read-mail.ts';

export interface RunningSmtp {
  port: number;
  close(): Promise<void>;
}

const mailLimitBytes = 10_000_000;

/**
 * Starts a mail server that accepts mail to every address, unless a fault is set. It needs no TLS and no password,
 * because it listens on the loopback address only.
 *
 * @throws Error EADDRINUSE if the port is in use.
 */
export async function startSmtp(port: number, mailbox: Mailbox & { put(mail: Mail): void }): Promise<RunningSmtp> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    size: mailLimitBytes,
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 200,
    onConnect(_session, done) {
      if (mailbox.fault() === 'close') return done(reply(421, 'Not now.'));
      done();
    },
    onAuth(auth, _session, done) {
      done(null, { user: auth.username ?? 'any' });
    },
    onRcptTo(_address, _session, done) {
      const fault = mailbox.fault();
      if (fault === 'hang') return;
      if (fault === 'refuse') return done(reply(550, 'This address is refused.'));
      if (fault === 'later') return done(reply(451, 'Try again later.'));
      done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const sender = session.envelope.mailFrom;
        const to = session.envelope.rcptTo.map((recipient) => withAsciiDomain(recipient.address));
        readMail(Buffer.concat(chunks), sender ? sender.address : '', to).then((mail) => {
          mailbox.put(mail);
          done();
        }, done);
      });
    },
  });
  // A client that disconnects in the middle of a mail is not an error.
  server.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Restores the address as it was sent: smtp-server decodes an encoded domain to Unicode. */
function withAsciiDomain(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
}

function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
