import type SMTPTransport from 'nodemailer/lib/smtp-transport';
import type { Config } from '../config.ts';
import { foreignFailure } from '../errors.ts';
import type { Log } from '../log.ts';
import { type InstrumentCall, uninstrumented } from '../telemetry/telemetry.ts';

export type Mail = { to: string; subject: string; text: string; html: string };

export type Mailer = {
  /** Whether SMTP_URL is set. */
  on: boolean;
  /**
   * Sends a mail, or fails after about a minute.
   *
   * @throws Error without the server's own text if the mail server does not accept the mail.
   */
  send: (mail: Mail) => Promise<void>;
  /**
   * Connects to the mail server and authenticates, without sending a mail.
   *
   * @throws Error without the server's own text if that fails.
   */
  check: () => Promise<void>;
  close: () => void;
};

/** Creates the mailer for SMTP_URL. While it is unset, each mail is logged by its subject and not sent. */
export function createMailer(
  { smtpUrl, mailFrom, service, timeouts }: Config,
  log: Log,
  instrument: InstrumentCall = uninstrumented,
): Mailer {
  if (smtpUrl === null) {
    return {
      on: false,
      check: async () => {},
      send: async ({ subject }) => log.warn('A mail was not sent: SMTP_URL is unset.', { subject }),
      close() {},
    };
  }

  const connection = {
    url: smtpUrl,
    connectionTimeout: timeouts.mailConnectSeconds * 1000,
    greetingTimeout: timeouts.mailConnectSeconds * 1000,
    socketTimeout: timeouts.mailIdleSeconds * 1000,
  };
  let opening: ReturnType<typeof openTransport> | undefined;
  function transport() {
    opening ??= openTransport(connection).catch((error: unknown) => {
      // The next mail tries again.
      opening = undefined;
      throw error;
    });
    return opening;
  }
  const from = mailFrom.includes('<') ? mailFrom : { name: service.name, address: mailFrom };

  return {
    on: true,
    check: async () => void (await (await transport()).verify().catch(throwWithoutServerText)),
    async send({ to, ...content }) {
      // An address object, never a string: nodemailer would parse a string as a list of addresses.
      const mail = {
        from,
        to: { name: '', address: to },
        envelope: { from, to },
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
        ...content,
      };
      const opened = await transport();
      await instrument('send', () => opened.sendMail(mail), isRefused).catch(throwWithoutServerText);
    },
    close: () => void opening?.then((opened) => opened.close()).catch(() => {}),
  };
}

/** The library is loaded with the first mail, because then only a job waits for it, and not every start. */
async function openTransport(connection: SMTPTransport.Options) {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(connection);
  // For a local part outside ASCII nodemailer converts the domain to Unicode: the envelope keeps the stored address.
  transport.use('stream', ({ data, message }, done) => {
    const { to } = data.envelope as { to: string };
    message.getEnvelope().to = [to];
    done();
  });
  return transport;
}

/** A mail server that gave no answer, or closes (421, RFC 5321 §3.8), as opposed to one that did not take this mail. */
class MailServerAway extends Error {
  override name = 'MailServerAway';
}

/** Whether a mail was not sent because the mail server is away, so that no mail can be sent. */
export function isMailServerAway(error: unknown): boolean {
  return error instanceof MailServerAway;
}

/** The library's own codes for what is wrong with a mail, where the server has not said it. */
const mailsOwn = new Set<unknown>(['EMESSAGE', 'EENVELOPE']);

/** @throws Error with the status, without the text of the mail server. */
function throwWithoutServerText(error: unknown): never {
  const status = error instanceof Error && 'responseCode' in error ? error.responseCode : null;
  const failure = foreignFailure('The mail server did not take the mail', error, status);
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (typeof status === 'number' ? status !== 421 : mailsOwn.has(code)) throw failure;
  throw new MailServerAway(failure.message, { cause: failure });
}

/** Whether the mail server answered with a permanent failure (RFC 5321 §4.2.1). */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'responseCode' in error && Number(error.responseCode) >= 500;
}
