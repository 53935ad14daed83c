import type { StoredFile } from '@gatehouse/payment-sandbox/provider/stored-file';

/** A mail as it was read, in the JSON of GET /mailbox/messages. */
export interface Mail {
  id: string;
  from: string;
  to: string[];
  subject: string;
  text: string;
  /** Null when the mail has no HTML part. */
  html: string | null;
  /** Every http address in it, each once, text before HTML. */
  links: string[];
  received_at: string;
  headers: Record<string, string>;
}

export interface Mailbox {
  /** Newest first; of one address when one is given, whatever its letter case. */
  messages(to?: string): Mail[];
  /**
   * The newest mail to an address. `after` names a mail, or a time, that it must be newer than.
   * Throws when none has come within `timeoutMs` (10 s).
   */
  waitFor(to: string, after?: Mail | Date | null, timeoutMs?: number): Promise<Mail>;
  clear(): void;
  /** What the mail server does with mails from now on. */
  setFault(fault: MailFault | null): void;
  fault(): MailFault | null;
}

/** `refuse` answers 550, `later` 451, `hang` never, `close` cuts the connection at the greeting. */
export type MailFault = 'refuse' | 'later' | 'hang' | 'close';
export const mailFaults: readonly MailFault[] = ['refuse', 'later', 'hang', 'close'];

/** The newest ones stay, so that a busy test run does not grow without bound. */
const keptMails = 2000;

export interface MailboxState {
  mails: Mail[];
}

export function createMailbox(file: StoredFile<MailboxState>): Mailbox & { put(mail: Mail): void } {
  let fault: MailFault | null = null;
  let waiting: (() => void)[] = [];
  return { messages, waitFor, clear, put, setFault, fault: () => fault };

  function setFault(next: MailFault | null): void {
    fault = next;
  }

  function messages(to?: string): Mail[] {
    const wanted = to?.trim().toLowerCase();
    const mails = file.value.mails.toReversed();
    return wanted ? mails.filter((mail) => mail.to.some((address) => address.toLowerCase() === wanted)) : mails;
  }

  async function waitFor(to: string, after: Mail | Date | null = null, timeoutMs = 10_000): Promise<Mail> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const found = messages(to)[0];
      if (found && isNewer(found, after)) return found;
      if (Date.now() >= deadline) throw new Error(`No mail to ${to} within ${timeoutMs} ms.`);
      await nextMail(deadline - Date.now());
    }
  }

  function isNewer(mail: Mail, after: Mail | Date | null): boolean {
    if (after === null) return true;
    if (after instanceof Date) return new Date(mail.received_at) >= after;
    return file.value.mails.indexOf(mail) > file.value.mails.findIndex(({ id }) => id === after.id);
  }

  function nextMail(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  function put(mail: Mail): void {
    file.value.mails.push(mail);
    file.value.mails.splice(0, Math.max(0, file.value.mails.length - keptMails));
    file.save();
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  }

  function clear(): void {
    file.value.mails = [];
    file.save();
  }
}
