import type { StoredFile } from '@gatehouse/payment-sandbox/provider/stored-file';

/** A received mail, as GET /mailbox/messages shows it. */
export interface Mail {
  id: string;
  from: string;
  to: string[];
  subject: string;
  text: string;
  /** Null when the mail has no HTML part. */
  html: string | null;
  /** The http addresses in the mail without duplicates, those of the text first. */
  links: string[];
  received_at: string;
  headers: Record<string, string>;
}

export interface Mailbox {
  /** All mails, or those to one address (in any letter case), newest first. */
  messages(to?: string): Mail[];
  /**
   * Waits for a mail to an address and returns the newest. It must be newer than `after`, a mail or a
   * time, if that is given. @throws Error if none has arrived after `timeoutMs` (30 s).
   */
  waitFor(to: string, after?: Mail | Date | null, timeoutMs?: number): Promise<Mail>;
  clear(): void;
  /** Sets the failure of the mail server from now on; null: none. */
  setFault(fault: MailFault | null): void;
  fault(): MailFault | null;
}

/** `refuse` answers 550, `later` 451, `hang` never answers, `close` answers 421 to each connection. */
export type MailFault = 'refuse' | 'later' | 'hang' | 'close';
export const mailFaults: readonly MailFault[] = ['refuse', 'later', 'hang', 'close'];

/** Older mails are deleted, so that a long test run does not grow without bound. */
const keptMails = 2000;

export interface MailboxState {
  mails: Mail[];
}

/** Keeps mails in a file. `put` adds one and ends the waits for it. */
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

  async function waitFor(to: string, after: Mail | Date | null = null, timeoutMs = 30_000): Promise<Mail> {
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
