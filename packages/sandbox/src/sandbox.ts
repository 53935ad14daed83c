import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { handleApi } from '@gatehouse/payment-sandbox/api/api-handler';
import { sendPage } from '@gatehouse/payment-sandbox/http/answer';
import type { Exchange } from '@gatehouse/payment-sandbox/http/request';
import { startServer } from '@gatehouse/payment-sandbox/http/server';
import { handlePages } from '@gatehouse/payment-sandbox/pages/pages-handler';
import type { PaymentProvider } from '@gatehouse/payment-sandbox/payment-controls';
import { startPaymentProvider } from '@gatehouse/payment-sandbox/payment-provider';
import { openStoredFile } from '@gatehouse/payment-sandbox/provider/stored-file';
import {
  type BreachedPasswordService,
  createBreachedPasswordService,
} from './breached-passwords/breached-passwords.ts';
import { handleControl } from './control/control-handler.ts';
import { readDemoAccounts } from './demo-accounts.ts';
import { type IdentityProvider, openIdentityProvider } from './idp/identity-provider.ts';
import { handleIdp } from './idp/idp-handler.ts';
import { createMailbox, type Mailbox, type MailboxState } from './mailbox/mailbox.ts';
import { handleMailbox } from './mailbox/mailbox-handler.ts';
import { startSmtp } from './mailbox/smtp.ts';
import { startPage } from './start-page.ts';

export interface SandboxOptions {
  /** 0 chooses a free port. */
  port: number;
  smtpPort: number;
  /** The folder that keeps the state; null: in memory only. */
  dataDir: string | null;
  /** The service's origin; null until `setServiceUrl`. */
  serviceUrl?: string | null;
  /** The origin to which events are sent, if that is not the service's public one. */
  webhookOrigin?: string;
  idp: { clientId: string; clientSecret: string };
  payment: {
    secretKey: string;
    webhookSecret: string;
    /** The event types that are sent to the service; by default all. */
    webhookEvents?: readonly string[];
    /** False: no product, no price and no portal configuration to begin with. */
    seeded?: boolean;
    /** The time of the service, in milliseconds, by which events are signed; by default that of the machine. */
    serviceTime?: () => number;
  };
}

export interface Sandbox {
  url: string;
  smtpUrl: string;
  idp: IdentityProvider;
  payment: PaymentProvider;
  mailbox: Mailbox;
  breachedPasswords: BreachedPasswordService;
  /** Sets the redirect address of sign-ins and the webhook endpoint. */
  setServiceUrl(url: string): void;
  close(): Promise<void>;
}

/**
 * Starts the mailbox, the identity provider and the payment provider in this process, on the
 * loopback address only. All of them accept requests when the promise resolves.
 *
 * @throws Error EADDRINUSE if a port is in use.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (options.dataDir !== null) mkdirSync(options.dataDir, { recursive: true });
  const path = (name: string) => (options.dataDir === null ? null : join(options.dataDir, name));
  let serviceUrl: string | null = null;
  const handlers: ((exchange: Exchange) => Promise<boolean> | boolean)[] = [];
  const server = await startServer(options.port, handlers);
  const url = `http://localhost:${server.port}`;

  const breachedPasswords = createBreachedPasswordService();
  const mailbox = createMailbox(openStoredFile<MailboxState>(path('mailbox.json'), { mails: [] }));
  const smtp = await startSmtp(options.smtpPort, mailbox);
  const idp = openIdentityProvider({
    url,
    ...options.idp,
    serviceUrl: () => serviceUrl,
    demoAddresses: () => readDemoAccounts(options.dataDir).map(({ email }) => email),
    path: path('identity-provider.json'),
  });
  const { seeded = true, ...keys } = options.payment;
  const payment = startPaymentProvider({ url, ...keys, seeded, path: path('payments.json') });
  if (options.serviceUrl) setServiceUrl(options.serviceUrl);

  handlers.push(
    handleStartPage,
    (exchange) => handleMailbox(mailbox, exchange),
    (exchange) => breachedPasswords.handle(exchange),
    (exchange) => handleIdp(idp, exchange),
    (exchange) => handleApi(payment.provider, exchange),
    (exchange) => handlePages(payment.provider, exchange),
    (exchange) => handleControl(payment, exchange),
  );
  return {
    url,
    smtpUrl: `smtp://127.0.0.1:${smtp.port}`,
    idp,
    payment,
    mailbox,
    breachedPasswords,
    setServiceUrl,
    close,
  };

  function setServiceUrl(origin: string): void {
    serviceUrl = origin.replace(/\/$/, '');
    payment.setWebhookUrl(`${options.webhookOrigin ?? serviceUrl}/webhooks/payment`);
  }

  function handleStartPage({ res, path: address }: Exchange): boolean {
    if (address !== '/') return false;
    sendPage(res, 200, startPage(serviceUrl, readDemoAccounts(options.dataDir)));
    return true;
  }

  async function close(): Promise<void> {
    payment.close();
    await Promise.all([server.close(), smtp.close()]);
  }
}
