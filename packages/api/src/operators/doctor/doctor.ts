import type { App } from '../../app.ts';
import { checkDatabase } from './check-database.ts';
import { checkIdentity } from './check-identity.ts';
import { checkPayment } from './check-payment.ts';
import { checkProxies } from './check-proxies.ts';
import { checkBaseUrl, checkCookies, checkMail, checkOperators, checkSecretKey } from './check-service.ts';
import { checkWebhook } from './check-webhook.ts';
import { type Finding, note } from './finding.ts';

/**
 * Checks the whole configuration by requests to the running service, the identity provider,
 * the mail server, the payment provider and the database. Leaves out what needs the database while it cannot be read.
 * Changes nothing. The report has a line for each finding; it is sound if none of them is wrong.
 */
export async function runChecks(app: App): Promise<{ findings: Finding[]; report: string; sound: boolean }> {
  const database = await checkDatabase(app);
  const isReadable = database.every(({ about, level }) => about !== 'Database' || level === 'right');
  const checks = isReadable
    ? [
        ...[checkBaseUrl, checkCookies, checkProxies, checkIdentity, checkMail, checkPayment, checkWebhook],
        ...[checkSecretKey, checkOperators],
      ]
    : // The service answers 503 then, which says nothing about its configuration.
      [checkBaseUrl, checkIdentity, checkMail, checkPayment];
  const findings = [
    ...app.config.warnings.map((sentence) => note('Configuration', sentence)),
    ...(await Promise.all(checks.map((check) => check(app)))).flat(),
    ...database,
  ];

  const wrong = findings.filter(({ level }) => level === 'wrong').length;
  const conclusion =
    wrong === 0 ? 'Everything is right.' : wrong === 1 ? 'One thing is wrong.' : `${wrong} things are wrong.`;
  return { findings, report: [...findings.map(lineOf), conclusion].join('\n'), sound: wrong === 0 };
}

const marks = { right: 'right', note: 'note ', wrong: 'WRONG' };

function lineOf({ about, level, sentence }: Finding): string {
  return `${marks[level]}  ${about}: ${sentence}`;
}
