import type { App } from '../../app.ts';
import { type Finding, reasonOf, right, wrong } from './finding.ts';

/** Checks whether the mail server accepts a connection and our credentials. Sends no mail. */
export async function checkMail({ mail, config }: App): Promise<Finding[]> {
  const about = 'Mail server';
  if (!mail.on) return [wrong(about, 'SMTP_URL is not set: no verification mail leaves. Set it to your mail server.')];

  try {
    await mail.check();
    return [right(about, `It answers; mails come from ${config.mailFrom}.`)];
  } catch (error) {
    const sentence = `It cannot be used (${reasonOf(error)}). Correct SMTP_URL, its user and password, or let the network through.`;
    return [wrong(about, sentence)];
  }
}
