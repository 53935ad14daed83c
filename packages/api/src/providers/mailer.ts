import { createTransport } from 'nodemailer';
import type { Config } from '../config.ts';
import { foreignFailure } from '../errors.ts';
import type { Log } from '../log.ts';
import { unwatched, type Watch } from '../telemetry/calls.ts';

export type Mail = { to: string; subject: string; text: string; html: string };

export type Mailer = {
  /** Whether mail can leave at all. */
  on: boolean;
  /** Hands a mail to the mail server, in at most about twenty seconds. @throws when it does not take it, without the server's own text. */
  send: (mail: Mail) => Promise<void>;
  /** Speaks with the mail server up to where a mail would follow. @throws where that fails. */
  check: () => Promise<void>;
  close: () => void;
};

const secondsToConnect = 10;
const secondsOfSilence = 20;

/** Mail over SMTP_URL. Without one nothing leaves, and each mail is a line in the log. */
export function createMailer({ smtpUrl, mailFrom, service }: Config, log: Log, watch: Watch = unwatched): Mailer {
  if (smtpUrl === null) {
    return {
      on: false,
      check: async () => {},
      send: async ({ subject }) => log.warn('A mail was not sent: SMTP_URL is unset.', { subject }),
      close() {},
    };
  }

  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: secondsToConnect * 1000,
    greetingTimeout: secondsToConnect * 1000,
    socketTimeout: secondsOfSilence * 1000,
  });
  // Where the local part is not ASCII, nodemailer turns the domain into Unicode: the envelope keeps it as it is stored.
  transport.use('stream', ({ data, message }, done) => {
    const { to } = data.envelope as { to: string };
    message.getEnvelope().to = [to];
    done();
  });
  const from = mailFrom.includes('<') ? mailFrom : { name: service.name, address: mailFrom };

  return {
    on: true,
    check: async () => void (await transport.verify().catch(rethrow)),
    async send({ to, ...content }) {
      // An address object, never a text: nodemailer would read a list out of the latter.
      const mail = {
        from,
        to: { name: '', address: to },
        envelope: { from, to },
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
        ...content,
      };
      await watch('send', () => transport.sendMail(mail), isRefused).catch(rethrow);
    },
    close: () => transport.close(),
  };
}

/** @throws an error that says nothing of what the mail server wrote. */
function rethrow(error: unknown): never {
  const status = error instanceof Error && 'responseCode' in error ? error.responseCode : null;
  throw foreignFailure('The mail server did not take the mail', error, status);
}

/** Whether the mail server answered, and said no (RFC 5321 §4.2.1). */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'responseCode' in error && Number(error.responseCode) >= 500;
}
